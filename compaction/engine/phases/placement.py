"""Where the summary stands, and in which role it speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.engine.messages import Kind, Message, Role, text_of
from compaction.engine.phases.summary_text import SYSTEM_NOTE, wrap_summary
from compaction.engine.policy import CompactionPolicy, SummaryRole

Placed = tuple[Message, int | None]
"""A message with its position in the input, None for a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The messages that stay, each with its position in the input."""

    head: tuple[Placed, ...]
    kept: tuple[Placed, ...]
    tail: tuple[Placed, ...]
    kept_is_older: bool  # every summarised message came after the kept ones
    verbatim: frozenset[int] = frozenset()  # positions that may carry nothing


def place_summary(
    parts: Parts, summary: str, policy: CompactionPolicy
) -> tuple[Placed, ...]:
    """Join the parts around the summary so that providers accept the order."""
    text = wrap_summary(summary)
    if policy.summary_role is SummaryRole.ALTERNATE:
        return _alternate(parts, text)
    candidates = [
        _lay(parts, text, order, role)
        for order in _orders(parts)
        for role in (Role.ASSISTANT, Role.USER, None)
    ]
    return min(
        (c for c in candidates if c is not None),
        key=lambda laid: _faults(laid, parts.verbatim),
    )


def _alternate(parts: Parts, text: str) -> tuple[Placed, ...]:
    """Article 000: user behind assistant or tool, flipped if the tail collides."""
    before = (*parts.head, *parts.kept)
    last = before[-1][0].role if before else None
    ends_open = last in (Role.ASSISTANT, Role.TOOL, Role.FUNCTION)
    role = Role.USER if ends_open else Role.ASSISTANT
    first = parts.tail[0][0].role if parts.tail else None
    if role is first:
        flipped = Role.ASSISTANT if role is Role.USER else Role.USER
        role = role if flipped is last else flipped
    return (*before, (_summary_message(text, role), None), *parts.tail)


_SUMMARY_FIRST, _KEPT_FIRST = "summary_first", "kept_first"


def _orders(parts: Parts) -> tuple[str, ...]:
    """Time order decides first: kept messages that are older than all that was
    summarised come before the summary, newer ones after it.
    """
    if not parts.kept:
        return (_SUMMARY_FIRST,)
    if parts.kept_is_older:
        return (_KEPT_FIRST, _SUMMARY_FIRST)
    return (_SUMMARY_FIRST, _KEPT_FIRST)


def _lay(
    parts: Parts, text: str, order: str, role: Role | None
) -> tuple[Placed, ...] | None:
    """Lay the parts out; role None lets the next message carry the summary."""
    kept_first = order == _KEPT_FIRST
    before = (*parts.head, *parts.kept) if kept_first else parts.head
    after = parts.tail if kept_first else (*parts.kept, *parts.tail)
    if role is not None:
        return (*before, (_summary_message(text, role), None), *after)
    return _carry(before, after, text) if after else None


def _carry(
    before: tuple[Placed, ...], after: tuple[Placed, ...], text: str
) -> tuple[Placed, ...] | None:
    """Let the first message behind the summary carry it, its own text first."""
    host, position = after[0]
    if host.is_result or host.is_system:
        return None
    carrier = host.evolve(carried_summary=text)
    return (*before, (carrier, position), *after[1:])


def _summary_message(text: str, role: Role) -> Message:
    return Message(role=role, content=text, kind=Kind.SUMMARY)


def _faults(
    laid: Sequence[Placed], verbatim: frozenset[int]
) -> tuple[int, int, int, int]:
    """What a provider may refuse; the first candidate with the fewest wins.

    A message that stays word for word carries a summary only where nothing else
    is accepted, and the newest user message never does.
    """
    spoken = [message for message, _ in laid if not message.is_system]
    starts_wrong = bool(spoken) and spoken[0].role is not Role.USER
    carriers = [(m, p) for m, p in laid if m.carried_summary]
    burdened = [m for m, position in carriers if position in verbatim]
    return (
        int(not any(m.role is Role.USER for m in spoken)),
        int(any(m.role is Role.USER for m in burdened)),
        starts_wrong + sum(_collides(spoken, i) for i in range(len(spoken))),
        len(burdened),
    )


def _collides(spoken: Sequence[Message], index: int) -> bool:
    """True where a summary stands beside a message of its own role."""
    if spoken[index].kind is not Kind.SUMMARY:
        return False
    neighbours = [*spoken[max(0, index - 1) : index], *spoken[index + 1 : index + 2]]
    return any(n.role is spoken[index].role for n in neighbours)


def add_system_note(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Add the note about compaction to the system message, exactly once."""
    if not messages or not messages[0].is_system:
        return tuple(messages)
    system = messages[0]
    if SYSTEM_NOTE in text_of(system.content):
        return tuple(messages)
    return (_with_note(system), *messages[1:])


def _with_note(system: Message) -> Message:
    if isinstance(system.content, tuple):
        note = {"type": "text", "text": SYSTEM_NOTE}
        return system.evolve(content=(*system.content, note))
    return system.evolve(content=note_in_prompt(system.content or ""))


def note_in_prompt(prompt: str) -> str:
    """Add the note to a system prompt that is kept apart, exactly once."""
    if SYSTEM_NOTE in prompt:
        return prompt
    return f"{prompt}\n\n{SYSTEM_NOTE}".lstrip()
