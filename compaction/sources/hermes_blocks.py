"""Where in-place compactions lie in the rows of one Hermes session.

An in-place compaction archives every live row and inserts the whole new list under the
same session id: the kept messages are copies (new ids, their old timestamps, or the
insertion time plus a microsecond each when the running agent never loaded them), the
summary is new. Nothing records where one list ends and the next begins, so it is found
again by what cannot happen inside one list: a second copy of the same row, or a second
fresh summary. Where the live list begins is certain from the row states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from compaction.engine.messages import Kind
from compaction.sources.values import SourceMessage

_STEP = 1e-6  # seconds between rows of one insertion that have no time of their own
_BATCH_STEP = 5e-6  # what floating point may make of a step


class Row(NamedTuple):
    """A message with what the table knows of its state (times in epoch seconds)."""

    item: SourceMessage
    stamp: float
    is_active: bool = True
    is_archived: bool = False

    @property
    def is_summary(self) -> bool:
        """True when the message is or carries a summary."""
        message = self.item.message
        return message.kind is Kind.SUMMARY or message.carried_summary is not None

    @property
    def identity(self) -> tuple[object, ...]:
        """What a copy shares with its original, also when its text was pruned."""
        message = self.item.message
        return self.stamp, message.role, message.tool_call_id


@dataclass(slots=True)
class _Block:
    """The list that is being walked through."""

    start: int
    awaits_summary: bool  # it began with copies, its own summary is still to come
    inserted_at: float | None = None  # when its first row was written, if known
    first_live: int | None = None  # first row that is no copy and no summary
    seen: set[tuple[object, ...]] = field(default_factory=set)

    def takes_summary(self, index: int, stamp: float, batch_start: int) -> bool:
        """Say whether a fresh summary still belongs to this list."""
        if self.inserted_at is not None:
            written = self.inserted_at + (index - self.start) * _STEP
            return stamp - written <= _BATCH_STEP
        if not self.awaits_summary:
            return False
        return self.first_live is None or self.first_live >= batch_start


def block_starts(rows: Sequence[Row], *, after: float | None = None) -> list[int]:
    """Return the index at which each list of the session begins, oldest first.

    `after` is given for the child of a rotation, whose first list begins with copies of
    its parent's messages: the time of the parent's newest message, epoch seconds.
    """
    if not any(row.is_archived for row in rows):
        return [0]
    return _with_live_start(rows, _walk(rows, after))


def _walk(rows: Sequence[Row], after: float | None) -> list[int]:
    starts = [0]
    block = _Block(0, awaits_summary=after is not None)
    newest = float("-inf") if after is None else after
    ever: set[tuple[object, ...]] = set()
    for index, row in enumerate(rows):
        is_new = row.identity not in ever
        if _is_copy(rows, index, block):
            block = _Block(index, awaits_summary=True)
            starts.append(index)
        elif is_new and row.is_summary and row.stamp >= newest:
            first = _batch_start(rows, index, block.start)
            is_own = block.takes_summary(index, row.stamp, first)
            if first > block.start and not is_own:
                block = _Block(first, awaits_summary=False)
                block.seen.update(row.identity for row in rows[first:index])
                starts.append(first)
            block.inserted_at = row.stamp - (index - block.start) * _STEP
        elif is_new and row.stamp > newest and block.first_live is None:
            block.first_live = index
        block.seen.add(row.identity)
        ever.add(row.identity)
        newest = max(newest, row.stamp)
    return starts


def _is_copy(rows: Sequence[Row], index: int, block: _Block) -> bool:
    """A row that this list already has; equal neighbours are only a coarse clock."""
    row = rows[index]
    if row.identity not in block.seen:
        return False
    return row.stamp != rows[index - 1].stamp


def _batch_start(rows: Sequence[Row], index: int, floor: int) -> int:
    """Return where the insertion began to which the row at `index` belongs."""
    while index > floor and _is_step(rows[index].stamp - rows[index - 1].stamp):
        index -= 1
    return index


def _is_step(seconds: float) -> bool:
    return 0 <= seconds <= _BATCH_STEP


def _with_live_start(rows: Sequence[Row], starts: list[int]) -> list[int]:
    """Put the last boundary where the row states say that it is."""
    last_archived = max(i for i, row in enumerate(rows) if row.is_archived)
    live = next(
        (i for i in range(last_archived + 1, len(rows)) if rows[i].is_active), None
    )
    if live is None:
        return starts
    between = [start for start in starts if last_archived < start <= live]
    older = [start for start in starts if start <= last_archived]
    return [*older, between[0] if between else live]
