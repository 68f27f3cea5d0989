"""The memory of a conversation: read, add, edit, remove, bring back."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from compaction.forms.memory import read_memory_edit
from compaction.models import Session
from compaction.selectors.memory import memory_page
from compaction.services.memory import (
    TEXT_CHARS,
    MemoryConflict,
    MemoryEdit,
    MemoryRefused,
    add_memory,
    edit_memory,
)
from compaction.services.roles import Verb
from compaction.views._access import allow, operator_of
from compaction.views._render import go_to, render_page
from compaction.views._sessions import session_frame, with_session

_PAGE = "compaction/memory/memory.html"


@require_safe
@allow(Verb.VIEW)
@with_session
def show_memory(request: HttpRequest, session: Session) -> HttpResponse:
    """Show what is remembered, and what of it the agent is told."""
    return _show(request, session)


def _show(
    request: HttpRequest, session: Session, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {
        **session_frame(request, session, "memory"),
        "memory": memory_page(session.conversation),
        "most_chars": TEXT_CHARS,
        **more,
    }
    return render_page(request, _PAGE, context, status=status)


@require_POST
@allow(Verb.EDIT_MEMORY)
@with_session
def add(request: HttpRequest, session: Session) -> HttpResponse:
    """Remember a text."""
    text = request.POST.get("text", "").replace("\r\n", "\n")
    try:
        add_memory(session.conversation, text, operator=operator_of(request))
    except MemoryRefused as refusal:
        more = {"fault": refusal.code.value, "new_text": text[: 2 * TEXT_CHARS]}
        return _show(request, session, status=422, **more)
    messages.success(request, gettext("Remembered. The agent is told from now on."))
    return _back(request, session)


@require_POST
@allow(Verb.EDIT_MEMORY)
@with_session
def change(request: HttpRequest, session: Session) -> HttpResponse:
    """Save an edit, a removal or a return, against the version that was seen."""
    edit = read_memory_edit(request.POST, operator_of(request))
    try:
        result = edit_memory(session.conversation, edit)
    except MemoryRefused as refusal:
        more = {"fault": refusal.code.value, "edit": edit}
        return _show(request, session, status=422, **more)
    if isinstance(result, MemoryConflict):
        return _show_conflict(request, session, edit, result)
    messages.success(request, _said(edit))
    return _back(request, session)


def _said(edit: MemoryEdit) -> str:
    if edit.removed:
        return gettext(
            "Removed: the agent is not told any more. You can bring it back."
        )
    return gettext("Saved. The agent is told from now on.")


def _show_conflict(
    request: HttpRequest, session: Session, edit: MemoryEdit, conflict: MemoryConflict
) -> HttpResponse:
    """Both texts, to choose; nothing was written."""
    context = {
        **session_frame(request, session, "memory"),
        "conflict": conflict,
        "edit": edit,
        "most_chars": TEXT_CHARS,
    }
    page = "compaction/memory/conflict.html"
    return render_page(request, page, context, status=409)


def _back(request: HttpRequest, session: Session) -> HttpResponse:
    return go_to(request, reverse("session-memory", args=[session.pk]))
