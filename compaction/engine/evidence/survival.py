"""The life of each piece of evidence over the generations of a conversation.

Every message is read once, in the generation in which it came; then each later
generation is asked where its opening still tells the item: in a message that stayed,
in the summary, in the TaskState, or nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from compaction.engine.evidence.chain import Chain, Generation, Spot
from compaction.engine.evidence.collect import collect
from compaction.engine.evidence.items import EvidenceItem, EvidenceKind, EvidenceStatus


class Fate(StrEnum):
    """What became of an item in one generation; exactly one of these."""

    ABSENT = "absent"  # nobody had told it yet
    INTRODUCED = "introduced"  # told here for the first time
    HEAD = "head"  # in a message before the summary that stayed
    TAIL = "tail"  # in a message after the summary that stayed
    MESSAGE = "message"  # in a message that stayed, where there is no summary
    SUMMARY = "summary"  # word for word in the summary
    REWORDED = "reworded"  # in the summary, in other words
    TASK = "task"  # in the TaskState
    AGAIN = "again"  # lost at first, told again by a later message
    LOST = "lost"  # nowhere in the window
    SUPERSEDED = "superseded"  # a newer value took its place, or it was called off
    RESOLVED = "resolved"  # done, answered, fixed


KEPT = frozenset(
    {Fate.HEAD, Fate.TAIL, Fate.MESSAGE, Fate.SUMMARY, Fate.REWORDED, Fate.TASK}
)
"""Fates of what came through a compaction."""

_NOT_FOLLOWED = frozenset({EvidenceKind.TOOL, EvidenceKind.STATE, EvidenceKind.NEXT})
"""Kinds that speak of the end of the conversation, or of nothing that can be lost."""

MOST_ITEMS = 20_000
"""Items that are followed: the heaviest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One item and its fate in every generation, oldest first.

    `places` are positions within the generation where the fate shows (None: none).
    `introduced` is None for what a summary told before the first known message.
    `successor` is the number of the life that took its place, if it is known.
    """

    item: EvidenceItem
    fates: tuple[Fate, ...]
    places: tuple[int | None, ...]
    introduced: Spot | None
    ended: Spot | None = None
    successor: int | None = None

    @property
    def fate(self) -> Fate:
        """What became of it in the newest generation."""
        return self.fates[-1]

    @property
    def lost_in(self) -> int | None:
        """Number of the generation whose beginning lost it, for what is lost now."""
        if self.fate is not Fate.LOST:
            return None
        told = [n for n, fate in enumerate(self.fates) if fate is not Fate.LOST]
        return told[-1] + 1 if told else 0


def trace(generations: Sequence[Generation]) -> tuple[Life, ...]:
    """Return the lives of all evidence, in the order in which it was told first."""
    if not generations:
        return ()
    chain = Chain(generations)
    items = _followed(chain)
    followers = _Successors(items)
    return tuple(
        _life(item, chain, followers.of(number)) for number, item in enumerate(items)
    )


def _followed(chain: Chain) -> list[EvidenceItem]:
    found = collect(chain.told, carried=chain.carried)
    items = [item for item in found if item.kind not in _NOT_FOLLOWED]
    heaviest = sorted(items, key=lambda item: -item.weight)[:MOST_ITEMS]
    return sorted(heaviest, key=lambda item: item.first_position)


def _life(item: EvidenceItem, chain: Chain, successor: int | None) -> Life:
    introduced = chain.spot_of(item.first_position)
    ended = None if item.is_live else chain.spot_of(_end_of(item))
    found = [
        _fate(item, chain, number, (introduced, ended))
        for number in range(len(chain.generations))
    ]
    return Life(
        item=item,
        fates=tuple(fate for fate, _ in found),
        places=tuple(place for _, place in found),
        introduced=introduced,
        ended=ended,
        successor=successor,
    )


def _end_of(item: EvidenceItem) -> int:
    return item.position if item.ended_at is None else item.ended_at


def _fate(
    item: EvidenceItem,
    chain: Chain,
    number: int,
    ends: tuple[Spot | None, Spot | None],
) -> tuple[Fate, int | None]:
    introduced, ended = ends
    if introduced is not None and number <= introduced.generation:
        is_here = number == introduced.generation
        return (
            (Fate.INTRODUCED, introduced.position) if is_here else (Fate.ABSENT, None)
        )
    if not item.is_live and (ended is None or ended.generation <= number):
        is_here = ended is not None and ended.generation == number
        over = item.status is EvidenceStatus.SUPERSEDED
        place = ended.position if ended is not None and is_here else None
        return (Fate.SUPERSEDED if over else Fate.RESOLVED), place
    return _where(item, chain, number)


def _where(item: EvidenceItem, chain: Chain, number: int) -> tuple[Fate, int | None]:
    """Return where a generation tells an item that an earlier one told first."""
    opening = chain.opening(number)
    place = opening.message_with(item)
    if place is not None:
        return _side(place, opening.summary_at), place
    if opening.summary.holds(item):
        return Fate.SUMMARY, opening.summary_at
    if opening.summary.rewords(item):
        return Fate.REWORDED, opening.summary_at
    if opening.task.holds(item) or opening.task.rewords(item):
        return Fate.TASK, None
    again = chain.told_again(number, item)
    return (Fate.LOST, None) if again is None else (Fate.AGAIN, again)


def _side(place: int, summary_at: int | None) -> Fate:
    if summary_at is None:
        return Fate.MESSAGE
    return Fate.HEAD if place < summary_at else Fate.TAIL


class _Successors:
    """Finds what took the place of a superseded item."""

    def __init__(self, items: Sequence[EvidenceItem]) -> None:
        self._items = items
        self._live = {
            (item.kind, item.key): number
            for number, item in enumerate(items)
            if item.is_live and item.key
        }
        self._at = {
            (item.kind, item.position): number for number, item in enumerate(items)
        }

    def of(self, number: int) -> int | None:
        item = self._items[number]
        if item.status is not EvidenceStatus.SUPERSEDED:
            return None
        newer = self._live.get((item.kind, item.key)) if item.key else None
        if newer is None and item.ended_at is not None:
            newer = self._at.get((item.kind, item.ended_at))
        return None if newer == number else newer
