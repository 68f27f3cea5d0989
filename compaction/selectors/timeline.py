"""The Timeline of a conversation: everything that happened, newest first.

Several tables are read side by side, each from the same place on, and merged; the
number of queries depends neither on the length of the list nor on the page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Count, Max, Model, Q

from compaction.models import Session, Turn
from compaction.selectors.timeline_sources import SOURCES, Scope, Source, find_errors

PAGE_SIZE = 50
REASONS_SHOWN = 12
KINDS = (
    *("turn", "run", "error", "recovery", "cooldown", "operator"),
    *("session", "summary", "memory", "loop"),
)
"""`recovery` are moves between calls: failovers, windows, continuations, hooks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a page of the Timeline is narrowed to; empty means everything.

    A reason is of an error, so with one only errors are shown.
    """

    kinds: frozenset[str] = frozenset()
    reason: str = ""

    def includes(self, kind: str) -> bool:
        """True for a kind of events that is asked for."""
        if self.reason:
            return kind == "error"
        return not self.kinds or kind in self.kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEvent:
    """One thing that happened; `template` is the part of its name in `timeline/_*`.

    `row` is the row it is told from, `session_id` where it happened ("" for what
    belongs to the whole conversation).
    """

    at: datetime
    kind: str
    template: str
    row: Any
    session_id: str
    place: str

    @property
    def key(self) -> str:
        """A name for the element of the event on the page."""
        return f"event-{self.template}-{self.row.pk}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One page of events; `after` is the place of the next page, or empty.

    `counts` are of each kind, `reasons` of each reason of an error, most first.
    """

    events: tuple[TimelineEvent, ...]
    after: str
    counts: dict[str, int]
    reasons: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """How many events there are of all kinds."""
        return sum(self.counts.values())


def read_timeline(
    scope: Scope, *, wanted: Wanted | None = None, after: str = ""
) -> Timeline:
    """Return one page, newest first, of what is wanted."""
    wanted = wanted or Wanted()
    place = _read_place(after)
    found = [
        event
        for rank, source in enumerate(SOURCES)
        if wanted.includes(source.kind)
        for event in _read_source(source, rank, scope, (place, wanted.reason))
    ]
    # Stable: of one moment the tables keep their order, and their rows the database's.
    found.sort(key=lambda event: event.at, reverse=True)
    shown = tuple(found[:PAGE_SIZE])
    return Timeline(
        events=shown,
        after=shown[-1].place if len(found) > PAGE_SIZE else "",
        counts=_count(scope),
        reasons=_count_reasons(scope),
    )


Place = tuple[datetime, int, Any]
"""When, in which table, which row."""


def _read_source(
    source: Source, rank: int, scope: Scope, page: tuple[Place | None, str]
) -> Iterable[TimelineEvent]:
    place, reason = page
    rows = source.rows(scope)
    if reason:
        rows = rows.filter(reason=reason)
    if place is not None:
        rows = rows.filter(_older(rank, place))
    for row in rows.order_by("-happened_at", "-pk")[: PAGE_SIZE + 1]:
        yield TimelineEvent(
            at=row.happened_at,
            kind=source.kind,
            template=source.template,
            row=row,
            session_id=_session_of(row),
            place=f"{row.happened_at.isoformat()}~{rank}~{row.pk}",
        )


def _session_of(row: Model) -> str:
    if isinstance(row, Session):
        return row.pk
    return getattr(row, "session_id", None) or ""


def _older(rank: int, place: Place) -> Q:
    """Rows behind a place in the order: time falling, table, key falling."""
    at, place_rank, key = place
    if rank > place_rank:
        return Q(happened_at__lte=at)
    earlier = Q(happened_at__lt=at)
    if rank < place_rank:
        return earlier
    return earlier | Q(happened_at=at, pk__lt=key)


def _read_place(text: str) -> Place | None:
    """Read a place from an address; None for one that we did not write."""
    at, _, rest = text.partition("~")
    rank, _, key = rest.partition("~")
    try:
        moment = datetime.fromisoformat(at)
        source = SOURCES[int(rank)]
        place = (moment, int(rank), source.model._meta.pk.to_python(key))
    except (ValueError, IndexError, ValidationError):
        return None
    return place if moment.tzinfo else None


def _count(scope: Scope) -> dict[str, int]:
    counts = dict.fromkeys(KINDS, 0)
    for source in SOURCES:
        counts[source.kind] += source.rows(scope).count()
    return counts


def _count_reasons(scope: Scope) -> tuple[tuple[str, int], ...]:
    rows = find_errors(scope).order_by().values_list("reason").annotate(n=Count("pk"))
    return tuple(rows.order_by("-n", "reason")[:REASONS_SHOWN])


def timeline_mark(scope: Scope) -> tuple[Any, ...]:
    """Return a value that is another one whenever the Timeline is."""
    marks = [
        source.rows(scope).aggregate(n=Count("pk"), at=Max("happened_at"))
        for source in SOURCES
    ]
    working = Turn.objects.filter(
        conversation_id=scope.conversation_id, status__in=("queued", "in_progress")
    )
    return (
        *((mark["n"], mark["at"]) for mark in marks),
        *working.values_list("status", "step"),
    )
