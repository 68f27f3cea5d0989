"""Everything that happened to a conversation, newest first, live."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from compaction.models import Session
from compaction.selectors.timeline import (
    KINDS,
    PAGE_SIZE,
    Scope,
    Timeline,
    read_timeline,
)
from compaction.services.roles import Verb
from compaction.views._access import allow
from compaction.views._query import query_with
from compaction.views._render import page_or_fragment
from compaction.views._sessions import session_frame, with_session

LIVE_SECONDS = 5
_PAGE = "compaction/timeline/timeline.html"
_FRAGMENT = "compaction/timeline/_events.html"


@require_safe
@allow(Verb.VIEW)
@with_session
def show_timeline(request: HttpRequest, session: Session) -> HttpResponse:
    """Show one page of events; kind, scope and place are in the address."""
    kind = request.GET.get("kind", "")
    kind = kind if kind in KINDS else ""
    is_own = request.GET.get("scope") == "session"
    after = request.GET.get("after", "")
    timeline = read_timeline(
        Scope(
            conversation_id=session.conversation_id,
            session_id=session.pk if is_own else "",
        ),
        kind=kind,
        after=after,
    )
    context = {
        **session_frame(request, session, "timeline"),
        "timeline": timeline,
        "facets": _facets(request, timeline, kind),
        "is_own": is_own,
        "own_query": query_with(
            request, scope=None if is_own else "session", after=None
        ),
        "paging": _paging(request, timeline),
        "first_query": query_with(request, after=None),
        "is_first": not after,
        "live_seconds": LIVE_SECONDS,
        "now": timezone.now(),
    }
    return page_or_fragment(request, _PAGE, _FRAGMENT, context)


def _facets(
    request: HttpRequest, timeline: Timeline, kind: str
) -> list[dict[str, Any]]:
    return [
        {
            "kind": name,
            "count": timeline.counts[name],
            "is_on": name == kind,
            "query": query_with(
                request, kind=None if name == kind else name, after=None
            ),
        }
        for name in KINDS
        if timeline.counts[name] or name == kind
    ]


def _paging(request: HttpRequest, timeline: Timeline) -> dict[str, Any]:
    next_url = query_with(request, after=timeline.after) if timeline.after else ""
    return {"size": PAGE_SIZE, "next_url": next_url}
