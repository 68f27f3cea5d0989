"""Answers to what a summary loses: put it back, pin its message, or let it go."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from compaction.forms.losses import LossForm
from compaction.models import Session
from compaction.services.losses import (
    Answer,
    dismiss,
    find_loss,
    recall,
    with_loss,
    with_message,
)
from compaction.services.roles import Verb
from compaction.services.summaries import SummaryEdit, edit_summary
from compaction.store import summary_in_force
from compaction.store.losses import Loss
from compaction.views._access import allow, operator_of
from compaction.views._render import go_to
from compaction.views._sessions import with_session
from compaction.views.summaries import answer_edit


@require_POST
@allow(Verb.EDIT_SUMMARY)
@with_session
def answer_loss(request: HttpRequest, session: Session) -> HttpResponse:
    """Do what an operator answers to one loss of the summary in force."""
    form = LossForm(request.POST)
    loss = find_loss(session, form.cleaned_data["loss"]) if form.is_valid() else None
    if loss is None:
        messages.info(
            request,
            gettext(
                "This is not among the losses any more: the summary has changed. "
                "Nothing was written."
            ),
        )
        return _back(request, session)
    answer = Answer(form.cleaned_data["answer"])
    if answer in (Answer.DISMISS, Answer.RECALL):
        return _let_go(request, session, loss, answer)
    return _put_back(request, session, loss, form)


def _let_go(
    request: HttpRequest, session: Session, loss: Loss, answer: Answer
) -> HttpResponse:
    if answer is Answer.DISMISS:
        dismiss(session, loss, operator_of(request))
        said = gettext("Noted as not needed. It can be taken back below the losses.")
    else:
        recall(session, loss, operator_of(request))
        said = gettext("It counts as a loss again.")
    messages.success(request, said)
    return _back(request, session)


def _put_back(
    request: HttpRequest, session: Session, loss: Loss, form: LossForm
) -> HttpResponse:
    summary = summary_in_force(session)
    text = summary.text if summary else ""
    is_pin = form.cleaned_data["answer"] == Answer.PIN
    new = with_message(session, text, loss) if is_pin else with_loss(text, loss)
    if new is None:
        messages.info(
            request,
            gettext(
                "An earlier summary told this: there is no message to pin. "
                "Add it to the summary instead."
            ),
        )
        return _back(request, session)
    edit = SummaryEdit(
        text=new,
        base_revision=form.cleaned_data["base_revision"],
        reason=gettext("a pinned message") if is_pin else gettext("a loss put back"),
    )
    result = edit_summary(session, edit, operator=operator_of(request))
    return answer_edit(request, session, result, reason=edit.reason)


def _back(request: HttpRequest, session: Session) -> HttpResponse:
    return go_to(request, reverse("session-summaries", args=[session.pk]) + "#losses")
