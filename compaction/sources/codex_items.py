"""Codex' response items as messages: what belongs to one answer is put together.

Reasoning, text and calls are separate items; everything up to the first result is one
assistant message. Encrypted reasoning is kept beside its readable summary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate
from typing import Any

from compaction.engine.messages import Content, Kind, Message, Role, ToolCall, text_of
from compaction.sources.block_shape import to_content
from compaction.sources.fields import listing, text
from compaction.sources.openai_shape import join_text, tool_call, tool_result
from compaction.sources.values import SourceMessage

Item = Mapping[str, Any]

_SYNTHETIC_OPENINGS = (
    "<environment_context>",
    "<ENVIRONMENT_CONTEXT>",
    "<user_instructions>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<subagent_notification>",
    "# AGENTS.md instructions for ",
)
_CALLS = {
    "function_call": ("name", "arguments"),
    "custom_tool_call": ("name", "input"),
    "local_shell_call": ("", "action"),
    "web_search_call": ("", "action"),
    "tool_search_call": ("", "arguments"),
    "image_generation_call": ("", "prompt"),
}
_RESULTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "tool_search_output"}
)
_NO_MESSAGE = frozenset({"ghost_snapshot", "other"})
_SELF_ANSWERED = frozenset({"web_search_call", "image_generation_call"})
"""Calls the provider answers itself: no result item ever follows."""


@dataclass(slots=True)
class _Answer:
    """An assistant message while its items come in."""

    at: datetime | None = None
    parts: list[Any] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    hidden: list[Mapping[str, Any]] = field(default_factory=list)
    usage: int | None = None

    @property
    def is_empty(self) -> bool:
        """True while nothing came in."""
        return not (self.parts or self.calls or self.thoughts or self.hidden)

    def message(self) -> Message:
        """Return the whole message."""
        extra: dict[str, Any] = {}
        if self.thoughts:
            extra["reasoning_content"] = "\n\n".join(self.thoughts)
        if self.hidden:
            extra["codex_reasoning_items"] = self.hidden
        return Message(
            role=Role.ASSISTANT,
            content=to_content(self.parts),
            tool_calls=tuple(self.calls),
            extra=extra,
        )


class Transcript:
    """Builds the messages of one generation from its items."""

    def __init__(self, kept: Iterable[SourceMessage] = ()) -> None:
        self.messages: list[SourceMessage] = list(kept)
        self._prompts = [i for i, m in enumerate(self.messages) if is_prompt(m.message)]
        self._taken_back: list[tuple[int, int]] = []  # stretches of messages
        self.model = ""
        self.unknown: dict[str, int] = {}
        self._answer = _Answer()
        self._names: dict[str, str] = {}
        self._next_usage: int | None = None

    def add(self, item: Item, at: datetime | None) -> None:
        """Add one response item."""
        kind = text(item.get("type"))
        if kind == "message":
            self._add_message(item, at)
        elif kind == "reasoning":
            self._add_reasoning(item, at)
        elif kind in _CALLS:
            self._add_call(item, kind, at)
        elif kind in _RESULTS:
            self._add_result(item, at)
        elif kind in ("compaction", "compaction_summary"):
            self._add_hidden_summary(at)
        elif kind not in _NO_MESSAGE:
            self.unknown[kind[:32]] = self.unknown.get(kind[:32], 0) + 1

    def add_usage(self, tokens: int | None) -> None:
        """Note the prompt size of an answer (older logs state it before its items)."""
        if self._answer.is_empty:
            self._next_usage = tokens
        else:
            self._answer.usage = tokens

    def close(self) -> list[SourceMessage]:
        """Finish the current answer and return all messages."""
        if not self._answer.is_empty:
            answer = self._answer
            self.messages.append(
                SourceMessage(
                    message=answer.message(), at=answer.at, usage_tokens=answer.usage
                )
            )
        self._answer = _Answer()
        return self.messages

    def append(self, message: Message, at: datetime | None) -> None:
        """Add a whole message."""
        self.close()
        if is_prompt(message):
            self._prompts.append(len(self.messages))
        self.messages.append(SourceMessage(message=message, at=at))

    def roll_back(self, turns: int) -> None:
        """Take back the last turns, each from a person's prompt on."""
        messages = self.close()
        if turns and self._prompts:
            first = self._prompts[-turns] if turns <= len(self._prompts) else 0
            first = max(first, self._prompts[0])
            del self._prompts[-turns:]
            self._taken_back.append((first, len(messages)))

    def finish(self) -> list[SourceMessage]:
        """Return all messages, those that were taken back marked as inactive."""
        messages = self.close()
        changes = [0] * (len(messages) + 1)
        for first, stop in self._taken_back:
            changes[first] += 1
            changes[stop] -= 1
        depths = accumulate(changes)
        return [
            replace(entry, inactive=True) if depth else entry
            for entry, depth in zip(messages, depths, strict=False)
        ]

    def _add_message(self, item: Item, at: datetime | None) -> None:
        role = text(item.get("role"))
        if role == "assistant":
            if self._answer.parts or self._answer.calls:
                self.close()
            self._begin(at).parts.extend(_parts(item.get("content")))
            return
        content = to_content(item.get("content"))
        known = Role(role) if role in ("system", "developer", "user") else Role.USER
        self.append(Message(role=known, content=content, kind=_kind(content)), at)

    def _begin(self, at: datetime | None) -> _Answer:
        if self._answer.is_empty:
            self._answer.at = at
            self._answer.usage, self._next_usage = self._next_usage, None
        return self._answer

    def _add_reasoning(self, item: Item, at: datetime | None) -> None:
        if self._answer.parts and not self._answer.calls:
            self.close()
        answer = self._begin(at)
        readable = join_text(listing(item.get("summary")))
        readable = readable or join_text(listing(item.get("content")))
        if readable:
            answer.thoughts.append(readable)
        if item.get("encrypted_content"):
            hidden = text(item.get("encrypted_content"))
            answer.hidden.append({"type": "reasoning", "encrypted_content": hidden})

    def _add_call(self, item: Item, kind: str, at: datetime | None) -> None:
        name_key, arguments_key = _CALLS[kind]
        call = tool_call(
            item.get("call_id") or item.get("id"),
            item.get(name_key) if name_key else kind.removesuffix("_call"),
            item.get(arguments_key),
        )
        self._begin(at).calls.append(call)
        self._names[call.id] = call.name
        if kind in _SELF_ANSWERED:
            self.append(tool_result(call.id, call.name, None), at)

    def _add_result(self, item: Item, at: datetime | None) -> None:
        call_id = text(item.get("call_id"))
        output = item.get("output", item.get("tools"))
        name = self._names.get(call_id, "")
        self.append(tool_result(call_id, name, _output(output)), at)

    def _add_hidden_summary(self, at: datetime | None) -> None:
        """A summary that only the provider can read (remote compaction)."""
        content = "[encrypted summary, readable by the provider only]"
        self.append(Message(role=Role.USER, content=content, kind=Kind.SUMMARY), at)


def _parts(content: object) -> list[Any]:
    return [content] if isinstance(content, str) else list(listing(content))


def _output(output: object) -> Content:
    if isinstance(output, Mapping):
        output = output.get("content", output.get("content_items"))
    if output is None or isinstance(output, str | list):
        return to_content(output)
    return str(output)


def _kind(content: Content) -> Kind:
    said = text_of(content)[:200].lstrip()
    return Kind.SYNTHETIC if said.startswith(_SYNTHETIC_OPENINGS) else Kind.PLAIN


def is_prompt(message: Message) -> bool:
    """True for words of a person."""
    return message.role is Role.USER and message.kind is Kind.PLAIN
