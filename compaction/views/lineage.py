"""The tree of a conversation's sessions, its tokens, and what survived in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from compaction import tasks
from compaction.engine.evidence.items import EvidenceKind
from compaction.models import Session
from compaction.selectors.context import living_tip_of
from compaction.selectors.known import known_at
from compaction.selectors.lineage import Generation, lineage_of
from compaction.selectors.survival import ENDS, Traced, Track, traced, track_of
from compaction.services.roles import Verb
from compaction.views._access import allow
from compaction.views._numbers import read_number
from compaction.views._query import query_with
from compaction.views._render import page_or_fragment, render_page, wants_fragment
from compaction.views._sessions import session_frame, with_session

LIVE_SECONDS = 3


@require_safe
@allow(Verb.VIEW)
@with_session
def show_lineage(request: HttpRequest, session: Session) -> HttpResponse:
    """Show every session of the conversation, and what became of its evidence."""
    survival = _survival(request, session)
    if wants_fragment(request):
        return page_or_fragment(
            request, _FRAGMENT, _FRAGMENT, {"session": session, **survival}
        )
    lineage = lineage_of(session.conversation)
    context = {
        **session_frame(request, session, "lineage"),
        **survival,
        "lineage": lineage,
        "nodes": [replace(node, url=_url(node)) for node in lineage.generations],
    }
    return render_page(request, "compaction/lineage/detail.html", context)


_FRAGMENT = "compaction/lineage/_survival.html"


def _url(node: Generation) -> str:
    """An older generation opens as it was; the tip and a branch as they are."""
    exact = "" if node.is_tip or node.is_elsewhere else "?exact=1"
    return reverse("session-context", args=[node.id]) + exact


def _end_of_chain(session: Session) -> Session:
    return session if session.undone else living_tip_of(session)


def _survival(request: HttpRequest, session: Session) -> dict[str, Any]:
    """Return the context of lineage/_survival.html."""
    end, kind = request.GET.get("end", ""), request.GET.get("kind", "")
    newest = _end_of_chain(session)
    track = track_of(
        newest,
        end=end if end in ENDS else "",
        kind=kind if kind in set(EvidenceKind) else "",
        start=read_number(request.GET.get("start"), default=0),
    )
    _ask_when_old(newest, track.traced)
    return {
        "track": track,
        "ends": _facets(request, "end", track.ends, end),
        "kinds": _facets(request, "kind", track.kinds, kind),
        "next_url": _next_url(request, track),
        "first_url": query_with(request, start=None),
        "live_seconds": LIVE_SECONDS,
    }


def _ask_when_old(session: Session, trace: Traced) -> None:
    if trace.is_stale:
        tasks.ask_for_trace(session)


def _facets(
    request: HttpRequest, name: str, counts: tuple[tuple[str, int], ...], chosen: str
) -> list[dict[str, Any]]:
    return [
        {
            "value": value,
            "count": count,
            "is_on": value == chosen,
            "query": query_with(
                request, start=None, **{name: None if value == chosen else value}
            ),
        }
        for value, count in counts
    ]


def _next_url(request: HttpRequest, track: Track) -> str:
    if track.after is None:
        return ""
    return query_with(request, start=str(track.after))


@require_safe
@allow(Verb.VIEW)
@with_session
def show_known(request: HttpRequest, session: Session) -> HttpResponse:
    """Show what stood in the agent's window when it wrote a message."""
    position = read_number(request.GET.get("at"), default=0)
    newest = _end_of_chain(session)
    trace = traced(newest)
    known = known_at(session, position, trace)
    if known is None:
        raise Http404
    _ask_when_old(newest, trace)
    context = {
        **session_frame(request, session, "lineage"),
        "known": known,
        "trace": trace,
        "position": position,
        "live_seconds": LIVE_SECONDS,
    }
    return page_or_fragment(
        request,
        "compaction/lineage/known.html",
        "compaction/lineage/_known.html",
        context,
    )
