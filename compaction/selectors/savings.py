"""What compaction saved and cost lately, for the Overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from compaction.models import Run

DAYS = 14
_SHRANK = (Run.Outcome.SUMMARISED, Run.Outcome.PRUNED)
_ASKED_A_MODEL = Q(outcome=Run.Outcome.SUMMARISED, embedded=False)
_MEDIAN_OF = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """Tokens that runs freed on one day."""

    on: date
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Savings:
    """Runs that made a conversation smaller in the last days.

    `median_change` is the middle of (after − before) / before over the newest runs,
    None when there were none; `unpriced` runs asked a model and do not know its price.
    """

    days: Sequence[Day]
    runs: int
    tokens: int
    median_change: float | None
    cost: Decimal
    unpriced: int


def recent_savings(now: datetime) -> Savings:
    """Add up the last fourteen days; two queries."""
    first = timezone.localdate(now) - timedelta(days=DAYS - 1)
    found = Run.objects.filter(outcome__in=_SHRANK, finished_at__date__gte=first)
    found = found.exclude(tokens_after=None).order_by()
    sums = _sums_by_day(found)
    costs = [row["spent"] for row in sums.values() if row["spent"] is not None]
    days = [first + timedelta(days=number) for number in range(DAYS)]
    return Savings(
        days=[Day(on=day, tokens=_freed(sums, day)) for day in days],
        runs=sum(row["runs"] for row in sums.values()),
        tokens=sum(row["freed"] for row in sums.values()),
        median_change=_median_change(found),
        cost=sum(costs, Decimal(0)),
        unpriced=sum(row["unpriced"] for row in sums.values()),
    )


Sums = dict[date, dict[str, Any]]


def _sums_by_day(found: QuerySet[Run]) -> Sums:
    rows = (
        found.annotate(on=TruncDate("finished_at"))
        .values("on")
        .annotate(
            freed=Sum(F("tokens_before") - F("tokens_after")),
            spent=Sum("cost"),
            runs=Count("pk"),
            unpriced=Count("pk", filter=_ASKED_A_MODEL & Q(cost=None)),
        )
    )
    return {row["on"]: dict(row) for row in rows}


def _freed(sums: Sums, day: date) -> int:
    return int(sums[day]["freed"]) if day in sums else 0


def _median_change(found: QuerySet[Run]) -> float | None:
    newest = found.filter(tokens_before__gt=0).order_by("-queued_at")[:_MEDIAN_OF]
    changes = [
        (after - before) / before
        for before, after in newest.values_list("tokens_before", "tokens_after")
        if after is not None
    ]
    return median(changes) if changes else None
