"""What the navigation says beside its entries."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.cache import cache
from django.utils import timezone

from compaction.models import Run
from compaction.selectors.facets import KEPT_SECONDS, count_facets
from compaction.selectors.recovery import count_troubled
from compaction.selectors.sessions import Filters


@dataclass(frozen=True, slots=True, kw_only=True)
class Navigation:
    """Counts of the navigation; `alarm` when some conversation is stuck.

    `recovery` counts conversations in a cooldown, on a fallback or stuck.
    """

    overview: int
    sessions: int
    runs: int
    recovery: int
    alarm: bool


def navigation_counts() -> Navigation:
    """Count what needs an operator, conversations, and runs on their way.

    Kept for some seconds: every page asks.
    """
    kept = cache.get(_KEY)
    if isinstance(kept, Navigation):
        return kept
    counted = _count()
    cache.set(_KEY, counted, KEPT_SECONDS)
    return counted


_KEY = "navigation"


def _count() -> Navigation:
    facets = count_facets(Filters(), timezone.now())
    by_state = {facet.value: facet.count for facet in facets.states}
    active = [Run.Status.QUEUED, Run.Status.IN_PROGRESS]
    return Navigation(
        overview=by_state.get("attention", 0),
        sessions=facets.total,
        runs=Run.objects.filter(status__in=active).count(),
        recovery=count_troubled(timezone.now()),
        alarm=bool(by_state.get("stuck")),
    )
