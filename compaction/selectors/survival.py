"""What became of each piece of evidence over the generations of a lineage.

A small lineage is traced at once and kept in memory; a large one by a worker, whose
answer is stored. Until it is there the page says so; an older answer is shown as such.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from compaction.engine.evidence.survival import KEPT, Fate, Life, trace
from compaction.models import EvidenceTrace, Run, Session
from compaction.selectors.recent import Recent
from compaction.store.chains import chain_to, load_generations, mark_of
from compaction.store.evidence_traces import read_lives

AT_ONCE_TOKENS = 60_000
"""Tokens of a whole lineage up to which its evidence is traced within a request."""

ROWS_SHOWN = 50
ENDS = ("lost", "again", "kept", "superseded", "resolved", "introduced")
"""What may have become of an item, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """The lives along a chain; `made_at` is None for one that was traced just now.

    `is_stale`: the chain changed since. `is_ready` is False while a worker is at it.
    """

    chain: tuple[Session, ...]
    lives: tuple[Life, ...] = ()
    is_ready: bool = True
    is_stale: bool = False
    made_at: datetime | None = None


_traces: Recent[tuple[Life, ...]] = Recent(lambda lives: len(lives) + 1, limit=60_000)


def traced(session: Session) -> Traced:
    """Return the lives along the chain that ends in a session, as far as known."""
    chain = chain_to(session)
    mark = mark_of(chain)
    if sum(row.tokens for row in chain) <= AT_ONCE_TOKENS:
        lives = _traces.get(mark, lambda: trace(load_generations(chain)))
        return Traced(chain=chain, lives=lives)
    stored = EvidenceTrace.objects.filter(session=session).defer("lives").first()
    if stored is None:
        return Traced(chain=chain, is_ready=False, is_stale=True)
    lives = _traces.get(stored.mark, lambda: read_lives(stored))
    known = {row.pk: row for row in chain}
    return Traced(
        chain=tuple(known[pk] for pk in stored.chain if pk in known),
        lives=lives,
        is_stale=stored.mark != mark,
        made_at=stored.made_at,
    )


# --- the track ---------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """An item in one generation; `position` is the message that shows it, if any."""

    generation: int
    fate: str
    session_id: str
    position: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRow:
    """An item over the generations; `lost_by` is the run that lost it, if known."""

    kind: str
    text: str
    note: str
    end: str
    cells: tuple[Cell, ...]
    successor: str
    lost_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One page of rows; `after` is where the next page begins, None at the end."""

    traced: Traced
    rows: tuple[TrackRow, ...]
    first: int
    total: int
    after: int | None
    ends: tuple[tuple[str, int], ...]
    kinds: tuple[tuple[str, int], ...]

    @property
    def last(self) -> int:
        """The number of the last row of this page."""
        return self.first + len(self.rows) - 1 if self.rows else 0


def track_of(session: Session, *, end: str, kind: str, start: int) -> Track:
    """Return a page of the track: lost first, then the heaviest."""
    known = traced(session)
    found = [
        (end_of(life), number)
        for number, life in enumerate(known.lives)
        if not kind or life.item.kind.value == kind
    ]
    wanted = [(name, number) for name, number in found if end in ("", name)]
    wanted.sort(key=lambda pair: _rank(pair[0], known.lives[pair[1]]))
    start = min(max(start, 0), max(len(wanted) - 1, 0)) // ROWS_SHOWN * ROWS_SHOWN
    page = wanted[start : start + ROWS_SHOWN]
    after = start + ROWS_SHOWN
    return Track(
        traced=known,
        rows=tuple(_rows(known, [number for _, number in page])),
        first=start + 1 if page else 0,
        total=len(wanted),
        after=after if after < len(wanted) else None,
        ends=_count((name for name, _ in found), ENDS),
        kinds=tuple(Counter(x.item.kind.value for x in known.lives).most_common()),
    )


def end_of(life: Life) -> str:
    """Return what became of an item in the newest generation, in one of ENDS."""
    return "kept" if life.fate in KEPT else life.fate.value


def _rank(end: str, life: Life) -> tuple[int, float, int]:
    return ENDS.index(end), -life.item.weight, life.item.first_position


def _count(found: Iterator[str], names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    counts = Counter(found)
    return tuple((name, counts[name]) for name in names if counts[name])


def _rows(known: Traced, numbers: Sequence[int]) -> Iterator[TrackRow]:
    runs = _runs_into([session.pk for session in known.chain])
    for number in numbers:
        life = known.lives[number]
        lost_in = life.lost_in
        successor = life.successor
        yield TrackRow(
            kind=life.item.kind.value,
            text=life.item.text,
            note=life.item.note,
            end=end_of(life),
            cells=tuple(_cells(life, known.chain)),
            successor="" if successor is None else known.lives[successor].item.text,
            lost_by="" if lost_in is None else runs.get(known.chain[lost_in].pk, ""),
        )


def _cells(life: Life, chain: Sequence[Session]) -> Iterator[Cell]:
    for session, fate, place in zip(chain, life.fates, life.places, strict=True):
        yield Cell(
            generation=session.generation,
            fate=fate.value,
            session_id=session.pk,
            position=place,
        )


def _runs_into(ids: Sequence[str]) -> dict[str, str]:
    rows = Run.objects.filter(result_session_id__in=ids)
    pairs = rows.values_list("result_session_id", "pk")
    return {session or "": str(run) for session, run in pairs}


# --- what was not known ------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """An item that was told before and stood nowhere in the window any more."""

    kind: str
    text: str
    session_id: str
    position: int | None


def missing_at(known: Traced, session: Session, position: int) -> list[Missing]:
    """Return what a message's writer did not have, though it had been told before."""
    numbers = {row.pk: number for number, row in enumerate(known.chain)}
    here = numbers.get(session.pk)
    if here is None:
        return []
    lives = (life for life in known.lives if _is_missing(life, here, position))
    return [
        _missing(life, known) for life in sorted(lives, key=lambda x: -x.item.weight)
    ]


def _is_missing(life: Life, here: int, position: int) -> bool:
    fate, place = life.fates[here], life.places[here]
    if fate is Fate.AGAIN:
        return place is not None and place >= position
    return fate is Fate.LOST


def _missing(life: Life, known: Traced) -> Missing:
    told = life.introduced
    return Missing(
        kind=life.item.kind.value,
        text=life.item.text,
        session_id=known.chain[told.generation].pk if told else "",
        position=told.position if told else None,
    )
