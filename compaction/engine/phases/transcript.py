"""Phase 3a: the middle as labelled text for the summariser.

Clip first, redact after (the cost is then bounded by what is sent), and no text of
the conversation can close the frame it stands in (omp#8727).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from compaction.engine.messages import Message, Role, ToolCall
from compaction.engine.phases.redaction import redact
from compaction.engine.policy import CompactionPolicy

TRUNCATED = "\n...[truncated]...\n"
OPENING = "<transcript>"
CLOSING = "</transcript>"
_FRAME = re.compile(
    r"<(/?)(transcript|previous_summary|evidence|missing|focus)\b", re.IGNORECASE
)
# Begins with a bracket, not with `^`: such a search skips ahead.
_LABEL = re.compile(
    r"\[(?<![^\n]\[)(?=(?:USER|ASSISTANT|SYSTEM|DEVELOPER|TOOL|FUNCTION)\b)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Characters that one message, and the arguments of one call, may have."""

    over: int
    head: int
    tail: int
    args_over: int
    args_head: int
    every_role: bool


def limits_of(policy: CompactionPolicy) -> Limits:
    """Read the clipping limits out of a policy (6000 → 4000 + 1500 in article 000)."""
    return Limits(
        over=policy.clip_over_chars,
        head=policy.clip_head_chars,
        tail=policy.clip_tail_chars,
        args_over=policy.args_over_chars,
        args_head=policy.args_head_chars,
        every_role=policy.clip_every_role,
    )


def write_turn(message: Message, limits: Limits) -> str:
    """Write one message with its label, clipped, redacted and escaped."""
    if message.is_result:
        return f"[TOOL RESULT {message.tool_call_id or '?'}]: {_body(message, limits)}"
    body = _body(message, limits)
    if message.tool_calls:
        calls = "\n".join(_write_call(call, limits) for call in message.tool_calls)
        body = f"{body}\n[Tool calls:\n{calls}\n]"
    return f"[{message.role.value.upper()}]: {body}"


def write_transcript(messages: Iterable[Message], limits: Limits) -> str:
    """Write messages one after the other, a blank line between them."""
    return "\n\n".join(write_turn(message, limits) for message in messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A transcript of the messages from `start` up to `end` (not included)."""

    text: str
    start: int
    end: int


def write_chunks(
    messages: Sequence[Message], limits: Limits, *, budget: int
) -> tuple[Chunk, ...]:
    """Write messages into as few transcripts of at most `budget` characters as fit.

    A single turn that is larger than the budget is clipped to it (claude-code#23047:
    a middle larger than the summariser's own window must not make it refuse).
    """
    return tuple(each_chunk(messages, limits, budget=budget))


def each_chunk(
    messages: Iterable[Message], limits: Limits, *, budget: int
) -> Iterator[Chunk]:
    """Write the transcripts of `write_chunks` one by one, when they are asked for."""
    turns: list[str] = []
    start = used = 0
    for message in messages:
        turn = clip(write_turn(message, limits), budget)
        if turns and used + len(turn) + 2 > budget:
            end = start + len(turns)
            yield Chunk(text="\n\n".join(turns), start=start, end=end)
            turns, start, used = [], end, 0
        turns.append(turn)
        used += len(turn) + 2
    if turns:
        yield Chunk(text="\n\n".join(turns), start=start, end=start + len(turns))


def clip(text: str, limit: int) -> str:
    """Keep both ends of a text that is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    room = max(0, limit - len(TRUNCATED))
    tail = room // 4
    return f"{text[: room - tail]}{TRUNCATED}{text[len(text) - tail :]}"


def _body(message: Message, limits: Limits) -> str:
    text = message.text
    clipped = len(text) > limits.over and (limits.every_role or message.is_result)
    if clipped:
        tail = text[len(text) - limits.tail :] if limits.tail else ""
        text = f"{text[: limits.head]}{TRUNCATED}{tail}"
    return escape(redact(text))


def _write_call(call: ToolCall, limits: Limits) -> str:
    arguments = call.arguments
    if len(arguments) > limits.args_over:
        arguments = f"{arguments[: limits.args_head]}..."
    return f"  {call.name or '?'}({escape(redact(arguments))})"


def escape(text: str) -> str:
    """Make text of the conversation unable to close a frame or forge a label."""
    framed = _FRAME.sub(r"<\1 \2", text) if "<" in text else text
    return _LABEL.sub("| [", framed) if "[" in framed else framed


_ASKED = 100  # requests that tell the language


def is_cjk(messages: Sequence[Message]) -> bool:
    """True when what users wrote last is mostly Chinese (or another CJK language)."""
    asked = [message for message in messages if message.role is Role.USER]
    text = " ".join(message.text[:400] for message in asked[-_ASKED:])
    dense = len(re.findall("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]", text))
    latin = len(re.findall("[A-Za-z]{2,}", text))
    return dense > latin and dense >= 4
