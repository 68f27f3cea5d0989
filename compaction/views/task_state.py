"""Goal and todos: read, edit, reorder, restore; two editors get a conflict screen."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from compaction.engine.task_state import TaskState, TaskStateError, TodoStatus
from compaction.forms.task_state import (
    MERGE,
    SAVE,
    TaskDraft,
    press,
    read_task_draft,
)
from compaction.models import Session
from compaction.selectors.task_merge import Merge, choose, lay_side_by_side
from compaction.selectors.task_states import task_page
from compaction.services.roles import Verb, can
from compaction.services.task_states import (
    Conflict,
    Saved,
    restore_task_state,
    save_task_state,
)
from compaction.store.task_states import EMPTY, newest_task_version, task_version
from compaction.views._access import allow, operator_of
from compaction.views._render import go_to, page_or_fragment
from compaction.views._sessions import session_frame, with_session

_PAGE = "compaction/task_state/task_state.html"
_FRAGMENT = "compaction/task_state/_edit.html"


@require_safe
@allow(Verb.VIEW)
@with_session
def show_task_state(request: HttpRequest, session: Session) -> HttpResponse:
    """Show goal and todos; to an operator as a form."""
    newest = newest_task_version(session.conversation)
    draft = TaskDraft(state=newest.state, base_version=newest.version)
    return _show(request, session, draft)


def _show(
    request: HttpRequest,
    session: Session,
    draft: TaskDraft,
    *,
    error: TaskStateError | None = None,
) -> HttpResponse:
    shown = task_page(session.conversation, draft.state)
    context = {
        **_frame(request, session),
        "task": shown,
        "draft": draft,
        "is_unsaved": draft.state != shown.newest.state,
        "statuses": [status.value for status in TodoStatus],
        "error": error,
    }
    status = 422 if error else 200
    return page_or_fragment(request, _PAGE, _FRAGMENT, context, status=status)


def _frame(request: HttpRequest, session: Session) -> dict[str, Any]:
    return {
        **session_frame(request, session, "task"),
        "can_edit": can(request.user, Verb.EDIT_TASK_STATE),
    }


@require_POST
@allow(Verb.EDIT_TASK_STATE)
@with_session
def change_task_state(request: HttpRequest, session: Session) -> HttpResponse:
    """Do what the pressed button says: reorder the draft, save it, or merge."""
    draft = read_task_draft(request.POST)
    button = request.POST.get("button", SAVE)
    if button == MERGE:
        return _merge(request, session, draft)
    if button != SAVE:
        return _show(request, session, press(draft, button))
    return _save(request, session, draft)


def _save(request: HttpRequest, session: Session, draft: TaskDraft) -> HttpResponse:
    try:
        result = save_task_state(
            session.conversation,
            draft.state,
            base_version=draft.base_version,
            operator=operator_of(request),
        )
    except TaskStateError as error:
        return _show(request, session, draft, error=error)
    return _answer(request, session, result)


def _answer(
    request: HttpRequest, session: Session, result: Saved | Conflict
) -> HttpResponse:
    if isinstance(result, Conflict):
        base = result.base.state if result.base else EMPTY
        merge = lay_side_by_side(base, result.theirs.state, result.mine)
        return _show_conflict(request, session, merge, result.mine)
    if result.is_changed:
        said = gettext(
            "Saved as version %(number)s; the agent sees it at its next turn."
        )
        messages.success(request, said % {"number": result.version})
    else:
        messages.info(request, gettext("Nothing had changed."))
    return go_to(request, reverse("session-task", args=[session.pk]))


def _show_conflict(
    request: HttpRequest,
    session: Session,
    merge: Merge,
    mine: TaskState,
    *,
    is_unchosen: bool = False,
) -> HttpResponse:
    context = {
        **_frame(request, session),
        "merge": merge,
        "theirs": newest_task_version(session.conversation),
        "mine": mine,
        "first_version": request.POST.get("first_version")
        or request.POST.get("base_version", "0"),
        "is_unchosen": is_unchosen,
    }
    return page_or_fragment(
        request,
        "compaction/task_state/conflict.html",
        "compaction/task_state/_conflict.html",
        context,
        status=409,
    )


def _merge(request: HttpRequest, session: Session, mine: TaskDraft) -> HttpResponse:
    """Save what was chosen, unless somebody was faster once more."""
    conversation = session.conversation
    first = request.POST.get("first_version", "")
    base = task_version(conversation, int(first) if first.isdecimal() else 0)
    newest = newest_task_version(conversation)
    merge = lay_side_by_side(base.state if base else EMPTY, newest.state, mine.state)
    chosen = choose(merge, _choices(request, merge))
    if chosen is None or newest.version != mine.base_version:
        return _show_conflict(
            request, session, merge, mine.state, is_unchosen=chosen is None
        )
    return _save(request, session, TaskDraft(state=chosen, base_version=newest.version))


def _choices(request: HttpRequest, merge: Merge) -> dict[str, str]:
    return {
        field.name: request.POST.get(f"merge-{field.name}", "")
        for field in merge.fields
    }


@require_POST
@allow(Verb.EDIT_TASK_STATE)
@with_session
def bring_back_task_state(request: HttpRequest, session: Session) -> HttpResponse:
    """Make an older version the newest one."""
    version, base = (request.POST.get(name, "") for name in ("version", "base_version"))
    try:
        result = restore_task_state(
            session.conversation,
            int(version) if version.isdecimal() else -1,
            base_version=int(base) if base.isdecimal() else -1,
            operator=operator_of(request),
        )
    except TaskStateError as error:
        newest = newest_task_version(session.conversation)
        draft = TaskDraft(state=newest.state, base_version=newest.version)
        return _show(request, session, draft, error=error)
    return _answer(request, session, result)
