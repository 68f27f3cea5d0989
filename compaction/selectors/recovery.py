"""What recovery is at: cooldowns, failovers, stuck conversations, recent errors.

A fixed number of queries, whatever the number of rows; lists are cut at `MOST`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from compaction.models import Conversation, Cooldown, RecoveryEvent, Turn
from compaction.selectors.keyset import BadCursor, Keyset, Page, read_cursor, read_page
from compaction.store import is_copy

MOST = 50
PAGE_SIZE = 30
SPANS: dict[str, timedelta | None] = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "all": None,
}
DEFAULT_SPAN = "day"
_BY_TIME = Keyset(field="at", kind="time")
_COLUMNS = ("id", "tip_id", "title", "external_id", "source", "is_demo", "tokens")
_ERROR = RecoveryEvent.Kind.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryQuery:
    """What an address asks for; an unknown span is the default one."""

    span: str = DEFAULT_SPAN
    reason: str = ""
    endpoint: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failover:
    """A conversation on a fallback; `limited_until` is None once the primary is free.

    The primary is asked again at the beginning of the next turn.
    """

    conversation: Conversation
    endpoint: str
    since: datetime | None
    limited_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """A conversation that cannot shrink; `is_copy` needs another next action."""

    conversation: Conversation
    is_copy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonCount:
    """How often a reason came, in how many conversations, and when last."""

    reason: str
    count: int
    conversations: int
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """All that the page shows."""

    cooldowns: Sequence[Cooldown]
    failovers: Sequence[Failover]
    stuck: Sequence[Stuck]
    reasons: Sequence[ReasonCount]
    endpoints: Sequence[tuple[str, int]]
    errors: Page[RecoveryEvent]
    waiting: Sequence[Turn]

    @property
    def is_calm(self) -> bool:
        """True when nothing needs anybody at this moment."""
        return not (self.cooldowns or self.failovers or self.stuck)


def read_recovery(query: RecoveryQuery, now: datetime) -> Recovery:
    """Return the page; of the errors those that the query asks for."""
    errors = _errors(query, now)
    return Recovery(
        cooldowns=_cooldowns(now),
        failovers=_failovers(now),
        stuck=_stuck(),
        reasons=_reasons(errors),
        endpoints=_endpoints(errors),
        errors=_read_errors(errors, query),
        waiting=_waiting(),
    )


def active_cooldowns(now: datetime) -> QuerySet[Cooldown]:
    """Return the cooldowns that are on, the one that ends first in front."""
    found = Cooldown.objects.filter(until__gt=now, cleared_at=None)
    return found.order_by("until", "pk")


def _cooldowns(now: datetime) -> list[Cooldown]:
    """The longest of each conversation."""
    columns = (f"conversation__{name}" for name in _COLUMNS)
    own = ("until", "started_at", "seconds", "failures", "reason", "error")
    rows = active_cooldowns(now).select_related("conversation").only(*own, *columns)
    longest = {row.conversation_id: row for row in rows[: 4 * MOST]}
    return list(longest.values())[:MOST]


def _failovers(now: datetime) -> list[Failover]:
    rows = Conversation.objects.filter(endpoint_state__on_fallback=True)
    rows = rows.only(*_COLUMNS, "endpoint_state").order_by("-active_at")[:MOST]
    return [_failover(row, now) for row in rows]


def _failover(conversation: Conversation, now: datetime) -> Failover:
    state = conversation.endpoint_state
    limited = _moment(state.get("limited_until"))
    return Failover(
        conversation=conversation,
        endpoint=str(state.get("current", "")),
        since=_moment(state.get("since")),
        limited_until=limited if limited and limited > now else None,
    )


def _moment(seconds: Any) -> datetime | None:
    if not isinstance(seconds, int | float) or not 0 < seconds < 2**33:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def _stuck() -> list[Stuck]:
    rows = Conversation.objects.filter(state=Conversation.State.STUCK)
    rows = rows.only(*_COLUMNS, "threshold", "window", "may_continue", "imported_from")
    return [
        Stuck(conversation=row, is_copy=is_copy(row) and not row.may_continue)
        for row in rows.order_by("-active_at", "-pk")[:MOST]
    ]


def _waiting() -> list[Turn]:
    """Turns that wait before they try again."""
    rows = Turn.objects.filter(status="in_progress", step=Turn.Step.WAITING)
    return list(rows.select_related("conversation").order_by("wait_until")[:MOST])


def _errors(query: RecoveryQuery, now: datetime) -> QuerySet[RecoveryEvent]:
    span = SPANS.get(query.span, SPANS[DEFAULT_SPAN])
    found = RecoveryEvent.objects.filter(kind=_ERROR)
    return found.filter(at__gte=now - span) if span else found


def _reasons(errors: QuerySet[RecoveryEvent]) -> list[ReasonCount]:
    rows = (
        errors.order_by()
        .values("reason")
        .annotate(
            count=Count("pk"),
            conversations=Count("session__conversation", distinct=True),
            last=Max("at"),
        )
    )
    return [ReasonCount(**row) for row in rows.order_by("-count", "reason")[:MOST]]


def _endpoints(errors: QuerySet[RecoveryEvent]) -> list[tuple[str, int]]:
    rows = errors.exclude(endpoint="").order_by().values_list("endpoint")
    return list(rows.annotate(n=Count("pk")).order_by("-n", "endpoint")[:MOST])


def _read_errors(
    errors: QuerySet[RecoveryEvent], query: RecoveryQuery
) -> Page[RecoveryEvent]:
    if query.reason:
        errors = errors.filter(reason=query.reason)
    if query.endpoint:
        errors = errors.filter(endpoint=query.endpoint)
    try:
        cursor = read_cursor(query.after, _BY_TIME, is_before=False)
    except BadCursor:
        cursor = None
    return read_page(
        errors.select_related("session__conversation").defer(
            "session__system_prompt", "session__tools"
        ),
        _BY_TIME,
        is_descending=True,
        cursor=cursor,
        size=PAGE_SIZE,
    )


def count_troubled(now: datetime) -> int:
    """Count the conversations that are in a cooldown, on a fallback or stuck."""
    in_cooldown = Q(pk__in=active_cooldowns(now).order_by().values("conversation"))
    on_fallback = Q(endpoint_state__on_fallback=True)
    stuck = Q(state=Conversation.State.STUCK)
    return Conversation.objects.filter(in_cooldown | on_fallback | stuck).count()


def recovery_mark(now: datetime) -> tuple[Any, ...]:
    """Return a value that is another one whenever the page is."""
    return (
        RecoveryEvent.objects.aggregate(newest=Max("pk"))["newest"],
        tuple(active_cooldowns(now).values_list("pk", flat=True)[:MOST]),
        Conversation.objects.filter(state=Conversation.State.STUCK).count(),
        Conversation.objects.filter(endpoint_state__on_fallback=True).count(),
        tuple(turn.pk for turn in _waiting()),
    )
