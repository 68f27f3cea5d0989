"""Messages as the extraction reads them: bounded, without secrets, calls resolved."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compaction.engine.evidence.results import unwrapped
from compaction.engine.evidence.wording import sentences
from compaction.engine.messages import Kind, Message, Role, ToolCall
from compaction.engine.phases.redaction import redact
from compaction.engine.thinking import strip_thinking

HEAD_CHARS = 12_000
TAIL_CHARS = 4_000
ARGUMENT_CHARS = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSeen:
    """A tool call; `arguments` is empty when they are no JSON object."""

    name: str
    arguments: Mapping[str, Any]
    raw: str
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message to read. `by_user` is True only for words that a person wrote."""

    position: int
    role: Role
    text: str
    calls: tuple[CallSeen, ...] = ()
    answers: CallSeen | None = None
    failed: bool = False
    by_user: bool = field(default=False)
    told: tuple[str, ...] = ()  # the sentences of what a person or the agent says

    @property
    def is_result(self) -> bool:
        """True for tool results."""
        return self.role in (Role.TOOL, Role.FUNCTION)

    @property
    def is_assistant(self) -> bool:
        """True for the agent's own words."""
        return self.role is Role.ASSISTANT


def read_turns(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """Read messages in order; summaries and dropped messages are left out."""
    open_calls: dict[str, list[CallSeen]] = {}
    turns: list[Turn] = []
    for position, message in enumerate(messages):
        if message.dropped or message.is_system or message.kind is Kind.SUMMARY:
            continue
        turns.append(_read(message, position, open_calls))
    return tuple(turns)


def _read(
    message: Message, position: int, open_calls: dict[str, list[CallSeen]]
) -> Turn:
    calls = tuple(_read_call(call, position) for call in message.tool_calls)
    for call, seen in zip(message.tool_calls, calls, strict=True):
        open_calls.setdefault(call.id, []).append(seen)
    waiting = open_calls.get(message.tool_call_id or "") if message.is_result else None
    text = bounded(_bare_text(message))
    shown = redact(text)
    return Turn(
        position=position,
        role=message.role,
        text=shown,
        told=() if message.is_result else tuple(sentences(shown)),
        calls=calls,
        answers=waiting.pop(0) if waiting else None,
        failed=message.extra.get("is_error") is True,
        by_user=message.role is Role.USER
        and message.kind is Kind.PLAIN
        and is_persons(text),
    )


def _bare_text(message: Message) -> str:
    if message.is_result:
        return unwrapped(message.text)
    if message.role is Role.ASSISTANT:
        return strip_thinking(message.text)
    return _HOSTS_WORDS.sub("", message.text)


def bounded(text: str) -> str:
    """Return both ends of a long text."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]}\n…\n{text[-TAIL_CHARS:]}"


def _read_call(call: ToolCall, position: int) -> CallSeen:
    raw = redact(call.arguments[:ARGUMENT_CHARS])
    return CallSeen(
        name=call.name, arguments=_load(raw, call), raw=raw, position=position
    )


def _load(raw: str, call: ToolCall) -> Mapping[str, Any]:
    if len(call.arguments) > ARGUMENT_CHARS:
        return _load_long(call.arguments)
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _load_long(arguments: str) -> Mapping[str, Any]:
    """Read huge arguments, and keep the beginning of each long text in them."""
    if len(arguments) > 2_000_000:
        return {}
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    return {
        key: redact(bounded(item)) if isinstance(item, str) else item
        for key, item in value.items()
    }


_HOSTS_WORDS = re.compile(
    r"<(?P<tag>system-reminder|ide_\w{1,30}|environment_context)>"
    r"(?:(?!</?(?P=tag)>).)*?</(?P=tag)>\s*"
    r"|\A# Context from my IDE(?:(?!## My request).)*?## My request[^\n]*\n",
    re.DOTALL,
)
"""What a host adds to the words of its user."""

# What a host puts into a user's message, and what an agent without tool messages
# gets back as one.
_INJECTED = re.compile(
    r"\s{0,8}(?:<(?:environment_context|system-reminder|user_instructions|command-|"
    r"local-command|ide_|uploaded_files|returncode|output|observation|tool_response)|"
    r"\[System:|\[Your active task list|\[IMPORTANT: Background|\[Request interrupted|"
    r"\[File: |Observation:|OBSERVATION:|Caveat: The messages below|"
    r"Base directory for this skill|Traceback \(most recent|diff --git |"
    r"Here is a demonstration of how|Ran `[^`\n]{1,200}`\s|/[a-z-]{2,30}\s{0,4}\Z|"
    r"The conversation history before this point)",
)
_SHELL_END = re.compile(
    r"(?:bash-\$|\(Current directory: [^)\n]{1,200}\)\n?\S{0,10})\s*\Z"
)


def is_persons(text: str) -> bool:
    """True when the words of a user's message are a person's (hostile hosts aside)."""
    return not (_INJECTED.match(text) or _SHELL_END.search(text[-300:]))


def words_of_person(text: str) -> str:
    """Return what a person wrote of a user's message; empty when a program wrote it."""
    own = _HOSTS_WORDS.sub("", text)
    return own if is_persons(own) else ""


def spoken_by_user(turns: Iterable[Turn]) -> list[Turn]:
    """Return the turns that a person wrote."""
    return [turn for turn in turns if turn.by_user and turn.text.strip()]
