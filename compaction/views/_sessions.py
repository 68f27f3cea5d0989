"""From the id in an address to a session, and what every page of a session shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.http import (
    Http404,
    HttpRequest,
    HttpResponseBase,
    HttpResponseRedirect,
    QueryDict,
)
from django.urls import reverse
from django.utils import timezone

from compaction.models import Session
from compaction.selectors.context import (
    find_session,
    has_continuation,
    living_tip_of,
    session_header,
)

P = ParamSpec("P")
SessionView = Callable[Concatenate[HttpRequest, Session, P], HttpResponseBase]
IdView = Callable[..., HttpResponseBase]


def with_session(view: SessionView[P]) -> IdView:
    """Hand a view its session; goes inside of `@allow`.

    The id of a generation that was compacted leads to the living tip, with a note;
    `?exact=1` opens the frozen one. A POST acts on the very session it names.
    """

    @wraps(view)
    def opened(
        request: HttpRequest, session_id: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        session = find_session(session_id)
        if session is None:
            raise Http404
        is_read = request.method in ("GET", "HEAD")
        if is_read and not is_exact(request) and has_continuation(session):
            return _lead_to(request, living_tip_of(session), session)
        return view(request, session, *args, **kwargs)

    return opened


def is_exact(request: HttpRequest) -> bool:
    """True when the address asks for this generation and no other."""
    return request.GET.get("exact") == "1"


def _lead_to(request: HttpRequest, tip: Session, asked: Session) -> HttpResponseBase:
    match = request.resolver_match
    name = match.view_name if match else "session-context"
    query = QueryDict(mutable=True)
    query["from"] = asked.pk
    return HttpResponseRedirect(f"{reverse(name, args=[tip.pk])}?{query.urlencode()}")


def session_frame(request: HttpRequest, session: Session, tab: str) -> dict[str, Any]:
    """Return the context of `compaction/sessions/_header.html`.

    `tab` is context, compact, summaries, task, timeline, lineage or raw.
    """
    return {
        "page": "sessions",
        "tab": tab,
        "header": session_header(session, timezone.now()),
        "session": session,
        "conversation": session.conversation,
        "moved_from": _moved_from(request, session),
        "exact": "?exact=1" if is_exact(request) else "",
    }


def _moved_from(request: HttpRequest, session: Session) -> str:
    """Return the id that was asked for, if it is one of this conversation."""
    asked = request.GET.get("from", "").replace("\x00", "")[:64]
    siblings = Session.objects.filter(conversation=session.conversation_id)
    return asked if asked and siblings.filter(pk=asked).exists() else ""
