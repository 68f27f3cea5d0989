"""Everything that happened to a conversation, newest first, live."""

from __future__ import annotations

from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from compaction.models import Session
from compaction.selectors.context import find_session
from compaction.selectors.timeline import (
    KINDS,
    PAGE_SIZE,
    Timeline,
    Wanted,
    read_timeline,
    timeline_mark,
)
from compaction.selectors.timeline_sources import Scope
from compaction.services.roles import Verb
from compaction.views._access import allow, refusal_for
from compaction.views._events import as_stream, look, tell_changes
from compaction.views._query import query_toggling, query_with
from compaction.views._render import page_or_fragment
from compaction.views._sessions import session_frame, with_session

LIVE_SECONDS = 5
LOOK_SECONDS = 1.0
_PAGE = "compaction/timeline/timeline.html"
_FRAGMENT = "compaction/timeline/_events.html"


@require_safe
@allow(Verb.VIEW)
@with_session
def show_timeline(request: HttpRequest, session: Session) -> HttpResponse:
    """Show one page of events; kinds, reason, scope and place are in the address."""
    wanted = _read_wanted(request)
    is_own = request.GET.get("scope") == "session"
    after = request.GET.get("after", "")
    timeline = read_timeline(
        Scope(
            conversation_id=session.conversation_id,
            session_id=session.pk if is_own else "",
        ),
        wanted=wanted,
        after=after,
    )
    context = {
        **session_frame(request, session, "timeline"),
        "timeline": timeline,
        "facets": _facets(request, timeline, wanted),
        "reasons": _reasons(request, timeline, wanted),
        "is_narrowed": bool(wanted.kinds or wanted.reason),
        "all_query": query_with(request, kind=None, reason=None, after=None),
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


def _read_wanted(request: HttpRequest) -> Wanted:
    kinds = frozenset(request.GET.getlist("kind")) & frozenset(KINDS)
    reason = request.GET.get("reason", "").replace("\x00", "")[:48]
    return Wanted(kinds=kinds, reason=reason)


def _facets(
    request: HttpRequest, timeline: Timeline, wanted: Wanted
) -> list[dict[str, Any]]:
    return [
        {
            "kind": name,
            "count": timeline.counts[name],
            "is_on": name in wanted.kinds,
            "query": query_toggling(request, "kind", name, without=("after", "reason")),
        }
        for name in KINDS
        if timeline.counts[name] or name in wanted.kinds
    ]


def _reasons(
    request: HttpRequest, timeline: Timeline, wanted: Wanted
) -> list[dict[str, Any]]:
    counts = dict(timeline.reasons)
    if wanted.reason:
        counts.setdefault(wanted.reason, 0)
    return [
        {
            "reason": reason,
            "count": count,
            "is_on": reason == wanted.reason,
            "query": query_with(
                request,
                reason=None if reason == wanted.reason else reason,
                kind=None,
                after=None,
            ),
        }
        for reason, count in counts.items()
        if reason
    ]


def _paging(request: HttpRequest, timeline: Timeline) -> dict[str, Any]:
    next_url = query_with(request, after=timeline.after) if timeline.after else ""
    return {"size": PAGE_SIZE, "next_url": next_url}


@require_safe
async def stream_timeline(request: HttpRequest, session_id: str) -> HttpResponseBase:
    """Say whenever something has happened to the conversation of a session."""
    refusal = await sync_to_async(refusal_for)(request, Verb.VIEW)
    if refusal is not None:
        return refusal
    session = await look(partial(find_session, session_id))
    if session is None:
        raise Http404
    scope = Scope(conversation_id=session.conversation_id)
    return as_stream(tell_changes(partial(timeline_mark, scope), seconds=LOOK_SECONDS))
