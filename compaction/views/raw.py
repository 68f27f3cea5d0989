"""A session as the provider would get it: JSON, findings, download."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from compaction.models import Session
from compaction.selectors.context import find_session
from compaction.selectors.raw import (
    CHECKED_AT_ONCE,
    findings_of,
    read_raw_message,
    read_raw_window,
    write_export,
)
from compaction.services.roles import Verb
from compaction.views._access import allow
from compaction.views._numbers import read_number
from compaction.views._render import page_or_fragment
from compaction.views._sessions import session_frame, with_session

FINDINGS_SHOWN = 100


@require_safe
@allow(Verb.VIEW)
@with_session
def show_raw(request: HttpRequest, session: Session) -> HttpResponse:
    """Show a window of messages as JSON, of this session or of the one before."""
    shown = _side_of(request, session)
    window = read_raw_window(shown, at=read_number(request.GET.get("at"), default=0))
    context = {
        **session_frame(request, session, "raw"),
        **_find_faults(request, shown),
        "shown": shown,
        "side": "before" if shown.pk != session.pk else "after",
        "window": window,
    }
    return page_or_fragment(
        request,
        "compaction/raw/detail.html",
        "compaction/raw/_messages.html",
        context,
    )


def _side_of(request: HttpRequest, session: Session) -> Session:
    """Return the session itself, or with ?side=before the one it was made from."""
    if request.GET.get("side") != "before" or not session.parent_id:
        return session
    return find_session(session.parent_id) or session


def _find_faults(request: HttpRequest, shown: Session) -> dict[str, Any]:
    """Validate small sessions at once, large ones when asked: it reads every body."""
    is_small = shown.message_count <= CHECKED_AT_ONCE
    if not (is_small or request.GET.get("check") == "1"):
        return {"findings": None}
    found = findings_of(shown)
    return {
        "findings": found[:FINDINGS_SHOWN],
        "finding_count": len(found),
        "error_count": sum(1 for finding in found if finding.is_error),
        "faulty": {finding.position for finding in found},
    }


@require_safe
@allow(Verb.VIEW)
@with_session
def show_raw_message(
    request: HttpRequest, session: Session, position: int
) -> HttpResponse:
    """Show the JSON of one message."""
    text = read_raw_message(session, position)
    if text is None:
        raise Http404
    context = {
        **session_frame(request, session, "raw"),
        "position": position,
        "text": text,
    }
    return page_or_fragment(
        request,
        "compaction/raw/message.html",
        "compaction/raw/_message.html",
        context,
    )


@require_safe
@allow(Verb.VIEW)
@with_session
def export(request: HttpRequest, session: Session) -> HttpResponseBase:
    """Download the messages as one JSON list; secrets masked unless ?redact=0."""
    is_redacted = request.GET.get("redact") != "0"
    pieces = write_export(session, is_redacted=is_redacted)
    content = _stream(pieces) if isinstance(request, ASGIRequest) else pieces
    name = f"{session.pk}{'' if is_redacted else '-exact'}.json"
    return StreamingHttpResponse(
        content,
        content_type="application/json",
        headers={
            "Content-Disposition": content_disposition_header(
                as_attachment=True, filename=name
            )
            or "attachment",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        },
    )


async def _stream(pieces: Iterator[str]) -> AsyncIterator[str]:
    """Hand the pieces on one by one: under ASGI a plain iterator would be gathered."""
    while (piece := await sync_to_async(_take)(pieces)) is not None:
        yield piece


def _take(pieces: Iterator[str]) -> str | None:
    return next(pieces, None)
