"""OpenHands events as messages, and the view that condensations leave of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compaction.engine.messages import Kind, Message, Role
from compaction.sources.fields import (
    count,
    identifier,
    instant,
    label,
    listing,
    mapping,
    text,
)
from compaction.sources.openai_shape import (
    prompt_tokens,
    read_message,
    tool_call,
    tool_result,
)
from compaction.sources.values import SourceMessage

Event = Mapping[str, Any]

_SILENT = frozenset(
    {
        "recall",  # its observation is only a label; the text went into the prompt
        "change_agent_state",
        "agent_state_changed",
        "condensation_request",
        "pause",
        "null",
        "",
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of the view; `message` is None when the model saw nothing of it."""

    event_id: int | None
    message: SourceMessage | None


@dataclass(slots=True)
class View:
    """What the model sees of the events so far."""

    entries: list[Entry] = field(default_factory=list)
    model: str = ""
    tools: tuple[Mapping[str, Any], ...] = ()
    _answers: set[str] = field(default_factory=set)

    @property
    def messages(self) -> list[SourceMessage]:
        """The messages of the view in order."""
        return [entry.message for entry in self.entries if entry.message is not None]

    def add(self, event: Event) -> None:
        """Add one event; raises ValueError when its message is broken."""
        message = self._message(event)
        source = None
        if message is not None:
            source = SourceMessage(
                message=message,
                at=instant(event.get("timestamp")),
                external_id=identifier(event.get("id")),
                usage_tokens=_usage(event) if message.role is Role.ASSISTANT else None,
            )
        self.entries.append(Entry(count(event.get("id")), source))

    def _message(self, event: Event) -> Message | None:
        if "observation" in event:
            return _observation(event)
        arguments = mapping(event.get("args"))
        if event.get("action") == "system":
            self.tools = tuple(map(mapping, listing(arguments.get("tools"))))
            said = text(arguments.get("content")) or text(event.get("message"))
            return Message(role=Role.SYSTEM, content=said)
        if event.get("tool_call_metadata"):
            return self._answer(event)
        return _plain_action(event)

    def _answer(self, event: Event) -> Message | None:
        """Read the model's answer once, however many of its calls became events."""
        metadata = mapping(event.get("tool_call_metadata"))
        response = mapping(metadata.get("model_response"))
        answer_id = text(response.get("id")) or identifier(metadata.get("tool_call_id"))
        if answer_id and answer_id in self._answers:
            return None
        self._answers.add(answer_id)
        self.model = label(response.get("model"), 128) or self.model
        choices = listing(response.get("choices"))
        raw = mapping(mapping(choices[0]).get("message")) if choices else {}
        if raw.get("role") == "assistant":
            return read_message({k: v for k, v in raw.items() if v is not None})
        return _rebuilt_answer(event, metadata)

    def condense(self, event: Event) -> str | None:
        """Forget what a condensation names and put its summary in; return that text.

        None when it forgets nothing and says nothing.
        """
        arguments = mapping(event.get("args"))
        forgotten = _forgotten(arguments)
        summary = text(arguments.get("summary")).strip()
        kept = [entry for entry in self.entries if entry.event_id not in forgotten]
        if len(kept) == len(self.entries) and not summary:
            return None
        if summary:
            message = Message(role=Role.USER, content=summary, kind=Kind.SUMMARY)
            at = instant(event.get("timestamp"))
            offset = count(arguments.get("summary_offset")) or 0
            entry = Entry(count(event.get("id")), SourceMessage(message=message, at=at))
            kept.insert(min(offset, len(kept)), entry)
        self.entries = kept
        return summary


def is_condensation(event: Event) -> bool:
    """True for the event that replaces a stretch of the history."""
    return event.get("action") == "condensation"


def is_event(value: object) -> bool:
    """Say whether a value looks like an OpenHands event."""
    fields = mapping(value)
    return "source" in fields and ("action" in fields or "observation" in fields)


@dataclass(frozen=True, slots=True)
class _Span:
    first: int
    last: int

    def __contains__(self, event_id: object) -> bool:
        return isinstance(event_id, int) and self.first <= event_id <= self.last


def _forgotten(arguments: Mapping[str, Any]) -> Any:
    named = listing(arguments.get("forgotten_event_ids"))
    if named:
        return {event_id for event_id in named if isinstance(event_id, int)}
    first = count(arguments.get("forgotten_events_start_id"))
    last = count(arguments.get("forgotten_events_end_id"))
    return frozenset() if first is None or last is None else _Span(first, last)


def _usage(event: Event) -> int | None:
    metadata = mapping(event.get("tool_call_metadata"))
    return prompt_tokens(mapping(metadata.get("model_response")).get("usage"))


def _observation(event: Event) -> Message | None:
    content = text(event.get("content"))
    metadata = mapping(event.get("tool_call_metadata"))
    if metadata.get("tool_call_id"):
        name = metadata.get("function_name")
        return tool_result(metadata["tool_call_id"], name, content)
    if text(event.get("observation")) in _SILENT or not content:
        return None
    return Message(role=Role.USER, content=content, kind=Kind.SYNTHETIC)


def _plain_action(event: Event) -> Message | None:
    """Read an action that no tool call made: somebody said or ran something."""
    action = text(event.get("action"))
    arguments = mapping(event.get("args"))
    if action in _SILENT:
        return None
    said = text(arguments.get("content")) or text(arguments.get("thought"))
    said = said or text(event.get("message"))
    is_user = event.get("source") == "user"
    kind = Kind.SYNTHETIC if is_user and action != "message" else Kind.PLAIN
    role = Role.USER if is_user else Role.ASSISTANT
    images = [url for url in listing(arguments.get("image_urls")) if text(url)]
    if not images:
        return Message(role=role, content=said, kind=kind)
    parts: list[Mapping[str, Any]] = [{"type": "text", "text": said}]
    parts += [{"type": "image_url", "image_url": {"url": url}} for url in images]
    return Message(role=role, content=tuple(parts), kind=kind)


def _rebuilt_answer(event: Event, metadata: Mapping[str, Any]) -> Message:
    """Build an answer whose raw response was not logged from what was done."""
    arguments = dict(mapping(event.get("args")))
    thought = text(arguments.pop("thought", "")) or None
    call = tool_call(
        metadata.get("tool_call_id"), metadata.get("function_name"), arguments
    )
    return Message(role=Role.ASSISTANT, content=thought, tool_calls=(call,))
