"""The Timeline of a conversation: everything that happened, newest first.

Several tables are read side by side, each from the same place on, and merged; the
number of queries depends neither on the length of the list nor on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import DateTimeField, F, Model, Q, QuerySet
from django.db.models.functions import Coalesce

from compaction.models import (
    Cooldown,
    LoopEvent,
    OperatorAction,
    RecoveryEvent,
    Run,
    Session,
    Summary,
)

PAGE_SIZE = 50
KINDS = ("run", "error", "cooldown", "operator", "session", "summary", "loop")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose events: those of a conversation, or of one of its sessions alone."""

    conversation_id: int
    session_id: str = ""


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
    """One page of events; `after` is the place of the next page, or empty."""

    events: tuple[TimelineEvent, ...]
    after: str
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Source:
    """A table of events: how its rows are found, and when each happened."""

    kind: str
    template: str
    model: type[Model]
    find: Callable[[Scope], QuerySet[Any]]
    at: str

    def rows(self, scope: Scope) -> QuerySet[Any]:
        found: QuerySet[Any] = self.find(scope).annotate(happened_at=F(self.at))
        return found.exclude(happened_at=None)


def _by_session(rows: QuerySet[Any], scope: Scope) -> QuerySet[Any]:
    if scope.session_id:
        return rows.filter(session_id=scope.session_id)
    return rows.filter(session__conversation_id=scope.conversation_id)


def _runs(scope: Scope) -> QuerySet[Any]:
    heavy = ("ledger", "findings", "prompt", "policy", "usage", "error")
    rows = Run.objects.select_related("requested_by").defer(*heavy)
    told_at = Coalesce("finished_at", "queued_at", output_field=DateTimeField())
    return _by_session(rows.annotate(told_at=told_at), scope)


def _errors(scope: Scope) -> QuerySet[Any]:
    return _by_session(RecoveryEvent.objects.all(), scope)


def _cooldowns(scope: Scope) -> QuerySet[Any]:
    return Cooldown.objects.filter(conversation_id=scope.conversation_id)


def _cooldowns_over(scope: Scope) -> QuerySet[Any]:
    """Cooldowns that nobody cleared: an operator's act tells of itself."""
    return _cooldowns(scope).exclude(cleared_why="operator")


_TOLD_ELSEWHERE = ("compact", "force_compact", "edit_summary", "restore_summary")
"""Acts whose run or summary tells who did it, and more."""


def _acts(scope: Scope) -> QuerySet[Any]:
    rows = OperatorAction.objects.exclude(verb__in=_TOLD_ELSEWHERE)
    rows = rows.defer("before", "after", "seal", "previous_seal")
    if scope.session_id:
        here = Q(session_id=scope.session_id) | Q(session=None)
        return rows.filter(here, conversation_id=scope.conversation_id)
    return rows.filter(conversation_id=scope.conversation_id)


def _sessions(scope: Scope) -> QuerySet[Any]:
    rows = Session.objects.defer("system_prompt", "tools")
    if scope.session_id:
        return rows.filter(pk=scope.session_id)
    return rows.filter(conversation_id=scope.conversation_id)


def _ended(scope: Scope) -> QuerySet[Any]:
    """Sessions that ended for good; of a compacted one the next one's start tells."""
    return _sessions(scope).exclude(end_reason__in=_COMPACTED)


_COMPACTED = ("compression", "compaction")


def _edits(scope: Scope) -> QuerySet[Any]:
    """Summaries that people wrote: a run or an import tells of the others."""
    rows = Summary.objects.select_related("author").defer("text", "sections")
    by_people = (Summary.Origin.EDITED, Summary.Origin.RESTORED)
    return _by_session(rows.filter(origin__in=by_people), scope)


def _loops(scope: Scope) -> QuerySet[Any]:
    return _by_session(LoopEvent.objects.all(), scope)


_SOURCES: Sequence[_Source] = (
    _Source("run", "run", Run, _runs, "told_at"),
    _Source("error", "error", RecoveryEvent, _errors, "at"),
    _Source("cooldown", "cooldown", Cooldown, _cooldowns, "started_at"),
    _Source("cooldown", "cooldown_over", Cooldown, _cooldowns_over, "cleared_at"),
    _Source("operator", "act", OperatorAction, _acts, "at"),
    _Source("session", "session_end", Session, _ended, "ended_at"),
    _Source("session", "session_start", Session, _sessions, "started_at"),
    _Source("summary", "summary", Summary, _edits, "created_at"),
    _Source("loop", "loop", LoopEvent, _loops, "at"),
)


def read_timeline(
    scope: Scope, *, kind: str = "", after: str = "", size: int = PAGE_SIZE
) -> Timeline:
    """Return one page, newest first; of one kind if asked."""
    place = _read_place(after)
    found = [
        event
        for rank, source in enumerate(_SOURCES)
        if kind in ("", source.kind)
        for event in _read_source(source, rank, scope, (place, size))
    ]
    # Stable: of one moment the tables keep their order, and their rows the database's.
    found.sort(key=lambda event: event.at, reverse=True)
    shown = tuple(found[:size])
    return Timeline(
        events=shown,
        after=shown[-1].place if len(found) > size else "",
        counts=_count(scope),
    )


Place = tuple[datetime, int, Any]
"""When, in which table, which row."""


def _read_source(
    source: _Source, rank: int, scope: Scope, page: tuple[Place | None, int]
) -> Iterable[TimelineEvent]:
    place, size = page
    rows = source.rows(scope)
    if place is not None:
        rows = rows.filter(_older(rank, place))
    for row in rows.order_by("-happened_at", "-pk")[: size + 1]:
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
        source = _SOURCES[int(rank)]
        place = (moment, int(rank), source.model._meta.pk.to_python(key))
    except (ValueError, IndexError, ValidationError):
        return None
    return place if moment.tzinfo else None


def _count(scope: Scope) -> dict[str, int]:
    counts = dict.fromkeys(KINDS, 0)
    for source in _SOURCES:
        counts[source.kind] += source.rows(scope).count()
    return counts
