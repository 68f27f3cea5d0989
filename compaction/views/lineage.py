"""The tree of a conversation's sessions, and its tokens over time."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from compaction.models import Session
from compaction.selectors.lineage import Generation, lineage_of
from compaction.services.roles import Verb
from compaction.views._access import allow
from compaction.views._render import render_page
from compaction.views._sessions import session_frame, with_session


@require_safe
@allow(Verb.VIEW)
@with_session
def show_lineage(request: HttpRequest, session: Session) -> HttpResponse:
    """Show every session of the conversation, with its size and its way here."""
    lineage = lineage_of(session.conversation)
    context = {
        **session_frame(request, session, "lineage"),
        "lineage": lineage,
        "nodes": [replace(node, url=_url(node)) for node in lineage.generations],
    }
    return render_page(request, "compaction/lineage/detail.html", context)


def _url(node: Generation) -> str:
    """An older generation opens as it was; the tip and a branch as they are."""
    exact = "" if node.is_tip or node.is_elsewhere else "?exact=1"
    return reverse("session-context", args=[node.id]) + exact
