"""The running summary: previous beside updated, edit, restore."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from compaction.engine.phases.summary_text import parse_sections
from compaction.forms.summaries import RestoreForm, SummaryForm
from compaction.models import Session, Summary
from compaction.selectors.losses import loss_panel
from compaction.selectors.summaries import (
    SummaryPage,
    compare,
    put_back,
    summary_page,
)
from compaction.services.roles import Verb, can
from compaction.services.summaries import (
    Refusal,
    SummaryConflict,
    edit_summary,
    restore_summary,
    summary_row,
)
from compaction.views._access import allow, operator_of
from compaction.views._render import go_to, page_or_fragment, render_page
from compaction.views._sessions import session_frame, with_session


@require_safe
@allow(Verb.VIEW)
@with_session
def show_summaries(request: HttpRequest, session: Session) -> HttpResponse:
    """Show two revisions side by side; the address names them."""
    shown = summary_page(
        session,
        revision=_number(request, "revision"),
        against=_number(request, "against"),
    )
    context = {
        **_frame(request, session, shown),
        "summaries": shown,
        "losses": loss_panel(shown.shown),
    }
    context["may_answer"] = context["can_edit"] and shown.is_in_force
    return render_page(request, "compaction/summaries/summaries.html", context)


def _frame(
    request: HttpRequest, session: Session, shown: SummaryPage
) -> dict[str, Any]:
    frame = session_frame(request, session, "summaries")
    may_edit = can(request.user, Verb.EDIT_SUMMARY) and shown.in_force is not None
    is_there = frame["header"].is_tip and summary_row(session) is not None
    return {**frame, "can_edit": may_edit and is_there}


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 10 else None


@require_http_methods(["GET", "HEAD", "POST"])
@allow(Verb.EDIT_SUMMARY)
@with_session
def change_summary(request: HttpRequest, session: Session) -> HttpResponse:
    """Show the form for the summary in force; save what comes back as a revision."""
    shown = summary_page(session, against=_number(request, "against"))
    if shown.in_force is None or summary_row(session) is None:
        raise Http404
    if request.method != "POST":
        return _show_form(request, session, shown, _first_form(request, shown))
    form = SummaryForm(request.POST)
    if "preview" in request.POST or not form.is_valid():
        return _show_form(request, session, shown, form)
    result = edit_summary(session, form.to_edit(), operator=operator_of(request))
    return answer_edit(request, session, result, reason=form.cleaned_data["reason"])


def _first_form(request: HttpRequest, shown: SummaryPage) -> SummaryForm:
    assert shown.in_force is not None
    place = _number(request, "put_back")
    text = shown.in_force.text
    if place is not None and shown.against is not None:
        text = put_back(shown.against.text, text, place)
    return SummaryForm(initial={"text": text, "base_revision": shown.in_force.revision})


def _show_form(
    request: HttpRequest, session: Session, shown: SummaryPage, form: SummaryForm
) -> HttpResponse:
    assert shown.in_force is not None
    text = str(form["text"].value() or "")
    context = {
        **_frame(request, session, shown),
        "summaries": shown,
        "form": form,
        "comparison": compare(shown.in_force.text, text),
        "outline": parse_sections(text),
    }
    is_wrong = form.is_bound and "preview" not in request.POST
    return page_or_fragment(
        request,
        "compaction/summaries/edit.html",
        "compaction/summaries/_edit.html",
        context,
        status=422 if is_wrong else 200,
    )


def answer_edit(
    request: HttpRequest,
    session: Session,
    result: Summary | SummaryConflict | Refusal,
    *,
    reason: str = "",
) -> HttpResponse:
    """Answer an edit: where it is shown, the conflict, or why nothing was written."""
    if isinstance(result, SummaryConflict):
        return _show_conflict(request, session, result, reason)
    if isinstance(result, Refusal):
        return _show_refusal(request, session, result)
    messages.success(
        request,
        gettext("Revision %(number)s is in force; the next update starts from it.")
        % {"number": result.revision},
    )
    return go_to(request, reverse("session-summaries", args=[session.pk]))


def _show_conflict(
    request: HttpRequest,
    session: Session,
    conflict: SummaryConflict,
    reason: str,
) -> HttpResponse:
    shown = summary_page(session)
    merged = SummaryForm(
        initial={
            "text": conflict.mine,
            "base_revision": conflict.theirs.revision,
            "reason": reason,
        }
    )
    base = conflict.base.text if conflict.base else ""
    context = {
        **_frame(request, session, shown),
        "summaries": shown,
        "conflict": conflict,
        "form": merged,
        "comparison": compare(conflict.theirs.text, conflict.mine),
        "by_them": compare(base, conflict.theirs.text),
        "by_me": compare(base, conflict.mine),
    }
    return page_or_fragment(
        request,
        "compaction/summaries/conflict.html",
        "compaction/summaries/_conflict.html",
        context,
        status=409,
    )


def _show_refusal(
    request: HttpRequest, session: Session, refusal: Refusal
) -> HttpResponse:
    shown = summary_page(session)
    context = {
        **_frame(request, session, shown),
        "summaries": shown,
        "refusal": refusal.value,
    }
    return page_or_fragment(
        request,
        "compaction/summaries/refused.html",
        "compaction/summaries/_refused.html",
        context,
        status=409,
    )


@require_POST
@allow(Verb.EDIT_SUMMARY)
@with_session
def bring_back_summary(request: HttpRequest, session: Session) -> HttpResponse:
    """Make an older revision the newest one."""
    form = RestoreForm(request.POST)
    if not form.is_valid():
        return _show_refusal(request, session, Refusal.UNKNOWN_REVISION)
    result = restore_summary(
        session,
        form.cleaned_data["revision"],
        base_revision=form.cleaned_data["base_revision"],
        operator=operator_of(request),
    )
    return answer_edit(request, session, result)
