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
from django.db.models import Count, DateTimeField, F, Max, Model, Q, QuerySet
from django.db.models.functions import Coalesce

from compaction.models import (
    Cooldown,
    LoopEvent,
    MemoryItem,
    OperatorAction,
    RecoveryEvent,
    Run,
    Session,
    Summary,
    Turn,
)

PAGE_SIZE = 50
REASONS_SHOWN = 12
KINDS = (
    *("turn", "run", "error", "recovery", "cooldown", "operator"),
    *("session", "summary", "memory", "loop"),
)
"""`recovery` are moves between calls: failovers, windows, continuations, hooks."""

ERROR = RecoveryEvent.Kind.ERROR


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


def _turns(scope: Scope) -> QuerySet[Any]:
    told_at = Coalesce("finished_at", "queued_at", output_field=DateTimeField())
    rows = Turn.objects.select_related("requested_by").defer("error")
    return _by_session(rows.annotate(told_at=told_at), scope)


def _errors(scope: Scope) -> QuerySet[Any]:
    return _by_session(RecoveryEvent.objects.filter(kind=ERROR), scope)


def _moves(scope: Scope) -> QuerySet[Any]:
    return _by_session(RecoveryEvent.objects.exclude(kind=ERROR), scope)


def _cooldowns(scope: Scope) -> QuerySet[Any]:
    return Cooldown.objects.filter(conversation_id=scope.conversation_id)


def _cooldowns_over(scope: Scope) -> QuerySet[Any]:
    """Cooldowns that nobody cleared: an operator's act tells of itself."""
    return _cooldowns(scope).exclude(cleared_why="operator")


TOLD_ELSEWHERE = (
    *("compact", "force_compact", "edit_summary", "restore_summary", "send_message"),
    *("edit_memory", "remove_memory"),
)
"""Acts whose run, summary, turn or memory tells who did it, and more."""


def _acts(scope: Scope) -> QuerySet[Any]:
    rows = OperatorAction.objects.exclude(verb__in=TOLD_ELSEWHERE)
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
    return _sessions(scope).exclude(end_reason__in=COMPACTED)


COMPACTED = ("compression", "compaction")


def _edits(scope: Scope) -> QuerySet[Any]:
    """Summaries that people wrote: a run or an import tells of the others."""
    rows = Summary.objects.select_related("author").defer("text", "sections")
    by_people = (Summary.Origin.EDITED, Summary.Origin.RESTORED)
    return _by_session(rows.filter(origin__in=by_people), scope)


def _loops(scope: Scope) -> QuerySet[Any]:
    return _by_session(LoopEvent.objects.all(), scope)


def _memories(scope: Scope) -> QuerySet[Any]:
    rows: QuerySet[Any] = MemoryItem.objects.select_related("author")
    return rows.filter(conversation_id=scope.conversation_id)


_SOURCES: Sequence[_Source] = (
    _Source("run", "run", Run, _runs, "told_at"),
    _Source("error", "error", RecoveryEvent, _errors, "at"),
    _Source("recovery", "move", RecoveryEvent, _moves, "at"),
    _Source("turn", "turn", Turn, _turns, "told_at"),
    _Source("memory", "memory", MemoryItem, _memories, "at"),
    _Source("cooldown", "cooldown", Cooldown, _cooldowns, "started_at"),
    _Source("cooldown", "cooldown_over", Cooldown, _cooldowns_over, "cleared_at"),
    _Source("operator", "act", OperatorAction, _acts, "at"),
    _Source("session", "session_end", Session, _ended, "ended_at"),
    _Source("session", "session_start", Session, _sessions, "started_at"),
    _Source("summary", "summary", Summary, _edits, "created_at"),
    _Source("loop", "loop", LoopEvent, _loops, "at"),
)


def read_timeline(
    scope: Scope, *, wanted: Wanted | None = None, after: str = ""
) -> Timeline:
    """Return one page, newest first, of what is wanted."""
    wanted = wanted or Wanted()
    place = _read_place(after)
    found = [
        event
        for rank, source in enumerate(_SOURCES)
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
    source: _Source, rank: int, scope: Scope, page: tuple[Place | None, str]
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


def _count_reasons(scope: Scope) -> tuple[tuple[str, int], ...]:
    rows = _errors(scope).order_by().values_list("reason").annotate(n=Count("pk"))
    return tuple(rows.order_by("-n", "reason")[:REASONS_SHOWN])


def timeline_mark(scope: Scope) -> tuple[Any, ...]:
    """Return a value that is another one whenever the Timeline is."""
    marks = [
        source.rows(scope).aggregate(n=Count("pk"), at=Max("happened_at"))
        for source in _SOURCES
    ]
    working = Turn.objects.filter(
        conversation_id=scope.conversation_id, status__in=("queued", "in_progress")
    )
    return (
        *((mark["n"], mark["at"]) for mark in marks),
        *working.values_list("status", "step"),
    )
