"""The Overview: checks that say in one sentence each what needs an operator.

A check has a tone (`ok`, `warn`, `bad`, `info`), a count, some samples to open and at
most one moment. The number of queries does not depend on the number of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Min, Q, QuerySet

from compaction.engine.presets import DEFAULT
from compaction.models import (
    Conversation,
    Cooldown,
    ImportJob,
    LoopEvent,
    Run,
    WorkerSign,
)
from compaction.selectors.runs import ACTIVE

NEAR = 0.8
"""From this share of its threshold on a conversation counts as near to it."""

WAITS_LONG = timedelta(seconds=30)
"""A run that nobody has taken for so long points to a missing worker."""

SILENT_FOR = timedelta(seconds=60)
"""A worker that has not swept for so long is not there, or hangs."""

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
SAMPLES = 3
_OPEN = Q(state__in=(Conversation.State.IDLE, Conversation.State.OVER))


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check; `code` chooses the sentence, `samples` are what it speaks of."""

    code: str
    tone: str
    count: int = 0
    samples: Sequence[object] = ()
    moment: datetime | None = None
    reasons: Sequence[tuple[str, int]] = ()
    query: str = ""  # of the list that shows them all


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All checks, the worst first, and how many conversations there are."""

    checks: tuple[Check, ...]
    conversations: int

    @property
    def alarms(self) -> tuple[Check, ...]:
        """The checks that need somebody."""
        return tuple(check for check in self.checks if check.tone in ("bad", "warn"))


_RANK = {"bad": 0, "warn": 1, "info": 2, "ok": 3}


def overview(now: datetime) -> Overview:
    """Make every check; a fixed number of queries."""
    counts = dict(
        Conversation.objects.order_by().values_list("state").annotate(n=Count("pk"))
    )
    checks = [
        _stuck(counts.get(Conversation.State.STUCK, 0)),
        _over(counts.get(Conversation.State.OVER, 0)),
        _near(),
        _cooldowns(now),
        _repeated(),
        _loops(),
        _failed_runs(now),
        _worker(now),
        _queue(now),
        _leases(now),
        _failed_imports(now),
    ]
    return Overview(
        checks=tuple(sorted(checks, key=lambda check: _RANK[check.tone])),
        conversations=sum(counts.values()),
    )


def _stuck(count: int) -> Check:
    found = Conversation.objects.filter(state=Conversation.State.STUCK)
    return Check(
        code="stuck",
        tone="bad" if count else "ok",
        count=count,
        samples=_sample(found, "-fill") if count else (),
    )


def _over(count: int) -> Check:
    found = Conversation.objects.filter(state=Conversation.State.OVER)
    return Check(
        code="over",
        tone="warn" if count else "ok",
        count=count,
        samples=_sample(found, "-fill") if count else (),
    )


def _near() -> Check:
    near = Q(threshold__gt=0, tokens__gte=F("threshold") * NEAR)
    found = Conversation.objects.filter(near, state=Conversation.State.IDLE)
    return _about(found, "near", "info", order="-fill")


def _repeated() -> Check:
    """Compacted as often as the default policy warns of; each pass loses detail."""
    found = Conversation.objects.filter(_OPEN, tip__compactions__gte=DEFAULT.warn_from)
    return _about(found, "repeated", "warn", order="-active_at")


def _loops() -> Check:
    """Open conversations whose newest session shows that they go round in circles."""
    alarms = LoopEvent.objects.filter(is_alarm=True).values("session_id")
    found = Conversation.objects.filter(tip_id__in=alarms)
    open_ones = found.exclude(state=Conversation.State.ENDED)
    return _about(open_ones, "loops", "warn", order="-active_at")


def _about(found: QuerySet[Conversation], code: str, tone: str, *, order: str) -> Check:
    count = found.count()
    return Check(
        code=code,
        tone=tone if count else "ok",
        count=count,
        samples=_sample(found, order) if count else (),
    )


def _sample(found: QuerySet[Conversation], order: str) -> tuple[Conversation, ...]:
    columns = ("id", "tip_id", "title", "external_id", "tokens", "threshold")
    rows = found.select_related("tip").only(*columns, "tip__compactions")
    return tuple(rows.order_by(order, "-pk")[:SAMPLES])


def _cooldowns(now: datetime) -> Check:
    active = Cooldown.objects.filter(until__gt=now, cleared_at=None)
    sums = active.aggregate(n=Count("conversation", distinct=True), first=Min("until"))
    rows = active.select_related("conversation").order_by("until")[:SAMPLES]
    return Check(
        code="cooldown",
        tone="warn" if sums["n"] else "ok",
        count=sums["n"],
        samples=tuple(rows) if sums["n"] else (),
        moment=sums["first"],
    )


def _failed_runs(now: datetime) -> Check:
    aborted = Q(outcome=Run.Outcome.ABORTED)
    failed = Q(status=Run.Status.FAILED) | aborted
    found = Run.objects.filter(failed, finished_at__gte=now - DAY).order_by()
    rows = found.values_list("reason", "outcome").annotate(n=Count("pk"))
    reasons: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    for reason, outcome, count in rows:
        reasons[reason] += count
        outcomes[outcome] += count
    mostly_aborted = outcomes[Run.Outcome.ABORTED] * 2 >= outcomes.total()
    return Check(
        code="failed_runs",
        tone="bad" if outcomes else "ok",
        count=outcomes.total(),
        reasons=tuple(reasons.most_common(SAMPLES)),
        query="outcome=aborted" if mostly_aborted else "status=failed",
    )


def _worker(now: datetime) -> Check:
    """Whether a worker was heard of: it sweeps every few seconds."""
    sign = WorkerSign.objects.filter(pk=WorkerSign.ONLY).first()
    is_fresh = sign is not None and now - sign.at <= SILENT_FOR
    return Check(
        code="worker",
        tone="ok" if is_fresh else "bad",
        moment=sign.at if sign else None,
    )


def _queue(now: datetime) -> Check:
    """Runs and imports that wait; a long wait points to a missing worker."""
    runs = Run.objects.filter(status=Run.Status.QUEUED)
    jobs = ImportJob.objects.filter(status=ImportJob.Status.QUEUED)
    waiting = [
        rows.aggregate(n=Count("pk"), first=Min("queued_at")) for rows in (runs, jobs)
    ]
    oldest = min((row["first"] for row in waiting if row["first"]), default=None)
    is_long = oldest is not None and now - oldest > WAITS_LONG
    return Check(
        code="queue",
        tone="bad" if is_long else "ok",
        count=sum(row["n"] for row in waiting),
        moment=oldest,
    )


def _leases(now: datetime) -> Check:
    """Rows whose worker went silent; the sweeper gives them to another."""
    silent = [
        rows.filter(status="in_progress", lease_until__lt=now).count()
        for rows in (Run.objects.all(), ImportJob.objects.all())
    ]
    count = sum(silent)
    return Check(code="leases", tone="warn" if count else "ok", count=count)


def _failed_imports(now: datetime) -> Check:
    found = ImportJob.objects.filter(
        status=ImportJob.Status.FAILED, queued_at__gte=now - WEEK
    )
    count = found.count()
    rows = found.order_by("-queued_at")[:SAMPLES] if count else ()
    return Check(
        code="failed_imports",
        tone="warn" if count else "ok",
        count=count,
        samples=tuple(rows),
    )


def count_active_runs() -> int:
    """How many runs are queued or in progress."""
    return Run.objects.filter(status__in=ACTIVE).count()
