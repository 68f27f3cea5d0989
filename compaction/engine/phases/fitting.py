"""Phase 3a, before writing: which long outputs the summariser sees whole.

The articles send the pruned middle. Ours may be half as long again: the newest outputs
stand whole as far as that goes, older ones as the line that pruning leaves of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.engine.messages import Message
from compaction.engine.phases.shortening import FACT_ARROW
from compaction.engine.phases.transcript import TRUNCATED, Limits

ROOM = 1.25
"""Transcript and evidence together, as a multiple of the pruned middle."""

LEAST_CHARS = 16_000
"""A prompt as short as this is never worth shortening."""

_LABEL_CHARS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Characters of the pruned middle, and of transcript and evidence together.

    `spare` is what lies between: first for evidence, then for whole outputs.
    """

    pruned: int
    whole: int

    @property
    def spare(self) -> int:
        """Characters beside the pruned middle."""
        return max(0, self.whole - self.pruned)


def outcomes(
    middle: Sequence[Message], pruned: Sequence[Message]
) -> tuple[Message, ...]:
    """Return the pruned middle without what a shortened result repeats of its call.

    The call stands right before it; `-> exit 1, 40 lines` is all that is new.
    """
    return tuple(
        _outcome(short) if short is not whole and short.is_result else short
        for whole, short in zip(middle, pruned, strict=True)
    )


def _outcome(message: Message) -> Message:
    _, arrow, outcome = message.text.rpartition(FACT_ARROW)
    return message.evolve(content=f"->{outcome}") if arrow else message


def room_for(pruned: Sequence[Message], limits: Limits) -> Room:
    """Return the room that a middle has, by what is left of it once pruned."""
    chars = sum([chars_of(message, limits) for message in pruned])
    return Room(pruned=chars, whole=max(LEAST_CHARS, int(ROOM * chars)))


def fit(
    middle: Sequence[Message],
    pruned: Sequence[Message],
    limits: Limits,
    *,
    spare: int,
) -> tuple[Message, ...]:
    """Return the middle with its newest outputs whole, as far as `spare` goes."""
    chosen = list(pruned)
    for position in range(len(middle) - 1, -1, -1):
        whole, short = middle[position], pruned[position]
        if whole is short:
            continue
        cost = chars_of(whole, limits) - chars_of(short, limits)
        if cost <= spare:
            chosen[position] = whole
            spare -= max(0, cost)
    return tuple(chosen)


def chars_of(message: Message, limits: Limits) -> int:
    """Characters of one turn of the transcript, before redaction."""
    chars = len(message.text)
    if chars > limits.over and (limits.every_role or message.is_result):
        chars = limits.head + limits.tail + len(TRUNCATED)
    for call in message.tool_calls:
        length = len(call.arguments)
        chars += limits.args_head if length > limits.args_over else length
        chars += len(call.name) + _LABEL_CHARS
    return chars + _LABEL_CHARS
