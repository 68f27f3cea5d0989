"""The Overview: what needs an operator, and the one next step for each."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from compaction import wiring
from compaction.selectors.navigation import navigation_counts
from compaction.selectors.overview import overview
from compaction.selectors.runs import active_runs, latest_runs
from compaction.selectors.savings import recent_savings
from compaction.services.roles import Verb
from compaction.views._access import allow
from compaction.views._render import page_or_fragment

LIVE_SECONDS = 10
_LATEST = 5
_RUNNING = 5


@require_safe
@allow(Verb.VIEW)
def show_overview(request: HttpRequest) -> HttpResponse:
    """Show every check, what runs now and what compaction saved lately."""
    now = timezone.now()
    savings = recent_savings(now)
    context = {
        "page": "overview",
        "overview": overview(now),
        "attention": navigation_counts().overview,
        "running": active_runs(_RUNNING),
        "latest": latest_runs(_LATEST),
        "savings": savings,
        "freed": [day.tokens for day in savings.days],
        "summariser": wiring.describe_summariser(),
        "live_seconds": LIVE_SECONDS,
        "now": now,
    }
    return page_or_fragment(
        request,
        "compaction/overview/overview.html",
        "compaction/overview/_overview.html",
        context,
    )
