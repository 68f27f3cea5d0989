"""Chat: send a message to the agent of a conversation and watch its turn."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
)
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from compaction.forms.turns import ConversationForm, new_key, read_turn_request
from compaction.models import Session, Turn
from compaction.selectors.chat import Talk, position_of, read_talk
from compaction.selectors.overview import WAITS_LONG
from compaction.selectors.turns import (
    TurnDetail,
    find_turn,
    newest_turn,
    turn_detail,
)
from compaction.services.conversation_starts import new_conversation, start_fresh
from compaction.services.roles import Verb
from compaction.services.turns.starting import TurnRefused, TurnRequest, cancel_turn
from compaction.store import is_copy
from compaction.tasks import start_turn
from compaction.views._access import allow, operator_of, refusal_for, wants_json
from compaction.views._render import (
    go_to,
    page_or_fragment,
    render_page,
)
from compaction.views._sessions import session_frame, with_session
from compaction.wiring import turn_endpoints

_PAGE = "compaction/turns/chat.html"
_FRAGMENT = "compaction/turns/_chat.html"


@require_http_methods(["GET", "HEAD", "POST"])
@allow(Verb.VIEW)
@with_session
def chat(request: HttpRequest, session: Session) -> HttpResponseBase:
    """Show the talk and what the agent does; a POST sends a message."""
    if request.method == "POST":
        return refusal_for(request, Verb.SEND_MESSAGE) or _send(request, session)
    if request.GET.get("before", "").isdecimal():
        return _show_earlier(request, session)
    return page_or_fragment(request, _PAGE, _FRAGMENT, _chat_context(request, session))


def _send(request: HttpRequest, session: Session) -> HttpResponse:
    asked = read_turn_request(request.POST, operator_of(request))
    try:
        turn = start_turn(session.conversation, asked)
    except TurnRefused as refusal:
        return _refuse(request, session, asked, refusal)
    if wants_json(request):
        url = reverse("turn", args=[turn.pk])
        told = {"turn": str(turn.pk), "status": turn.status, "url": url}
        return JsonResponse(told, status=202, headers={"Location": url})
    return go_to(request, f"{reverse('session-turn', args=[session.pk])}#turn-now")


def _refuse(
    request: HttpRequest, session: Session, asked: TurnRequest, refusal: TurnRefused
) -> HttpResponse:
    """Say why nothing was sent; what was written stays in the form."""
    status = 422 if refusal.code in ("blank", "too_long") else 409
    if wants_json(request):
        return JsonResponse({"refusal": refusal.code.value}, status=status)
    context = {
        **_chat_context(request, session),
        "refusal": refusal.code.value,
        "refused_turn": refusal.turn,
        "refused_run": refusal.run,
        "text": asked.text,
    }
    return page_or_fragment(request, _PAGE, _FRAGMENT, context, status=status)


def _show_earlier(request: HttpRequest, session: Session) -> HttpResponse:
    before = min(int(request.GET["before"][:9]), 2**31 - 1)
    context = _chat_context(request, session, before=before)
    earlier = "compaction/turns/_earlier.html"
    return page_or_fragment(request, _PAGE, earlier, context)


def _chat_context(
    request: HttpRequest, session: Session, *, before: int | None = None
) -> dict[str, Any]:
    conversation = session.conversation
    turn = newest_turn(conversation)
    copied = is_copy(conversation)
    return {
        **session_frame(request, session, "chat"),
        **_turn_context(turn),
        "talk": _talk(session, turn, before),
        "before": before,
        "has_endpoint": bool(turn_endpoints()),
        "must_own": copied and not conversation.may_continue,
        "is_owned_copy": copied and conversation.may_continue,
        "key": new_key(),
        "text": "",
        "refusal": "",
    }


def _talk(session: Session, turn: Turn | None, before: int | None) -> Talk:
    """While a turn goes on, the talk ends with the operator's message."""
    if turn is None or not turn.is_active:
        return read_talk(session, before=before, until=None)
    started = turn.session
    return read_talk(started, before=before, until=position_of(turn))


def _turn_context(turn: Turn | None) -> dict[str, Any]:
    if turn is None:
        return {"turn": None, "detail": None}
    now = timezone.now()
    return {
        "turn": turn,
        "detail": turn_detail(turn),
        "is_waiting_long": now - turn.queued_at > WAITS_LONG,
        "now": now,
    }


@require_safe
@allow(Verb.VIEW)
def show_turn(request: HttpRequest, turn_id: uuid.UUID) -> HttpResponse:
    """Show one turn: how it ended and why, what it cost, what happened in it."""
    return page_or_fragment(
        request,
        "compaction/turns/detail.html",
        "compaction/turns/_detail.html",
        _page_context(turn_id),
    )


@require_safe
@allow(Verb.VIEW)
def show_turn_progress(request: HttpRequest, turn_id: uuid.UUID) -> HttpResponse:
    """Show what a turn does; asked for again until it ends."""
    context = _page_context(turn_id)
    return page_or_fragment(
        request,
        "compaction/turns/detail.html",
        "compaction/turns/_now.html",
        context,
    )


def _page_context(turn_id: uuid.UUID) -> dict[str, Any]:
    detail: TurnDetail = turn_detail(_find(turn_id))
    turn = detail.turn
    return {
        "page": "sessions",
        **_turn_context(turn),
        "conversation": turn.conversation,
        "session": turn.conversation.tip or turn.session,
    }


def _find(turn_id: uuid.UUID) -> Turn:
    turn = find_turn(turn_id)
    if turn is None:
        raise Http404
    return turn


@require_POST
@allow(Verb.STOP_TURN)
def stop_turn(request: HttpRequest, turn_id: uuid.UUID) -> HttpResponse:
    """Stop a turn that is on its way; say so when it had already ended."""
    turn = _find(turn_id)
    if cancel_turn(turn.pk, operator=operator_of(request)):
        said = gettext(
            "The turn was stopped. What the agent had said and done is kept."
        )
        messages.success(request, said)
    else:
        messages.info(request, gettext("The turn had already ended."))
    tip = turn.conversation.tip or turn.session
    return go_to(request, reverse("session-turn", args=[tip.pk]))


@require_POST
@allow(Verb.SEND_MESSAGE)
@with_session
def begin_fresh(request: HttpRequest, session: Session) -> HttpResponse:
    """Begin a conversation that carries TaskState, memory and summary of this one."""
    if session.conversation.tip_id is None:
        raise Http404
    fresh = start_fresh(session.conversation, operator=operator_of(request))
    said = gettext(
        "This is a fresh session. It carries the goal and todos, the memory and the "
        "summary; the other one stays as it is."
    )
    messages.success(request, said)
    return go_to(request, reverse("session-turn", args=[fresh.tip_id]))


@require_http_methods(["GET", "HEAD", "POST"])
@allow(Verb.SEND_MESSAGE)
def begin_conversation(request: HttpRequest) -> HttpResponse:
    """Ask for a title and a system prompt, and begin a conversation."""
    form = ConversationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        begun = new_conversation(form.to_conversation(operator_of(request)))
        return go_to(request, reverse("session-turn", args=[begun.tip_id]))
    context = {"page": "sessions", "form": form, "has_endpoint": bool(turn_endpoints())}
    status = 422 if form.is_bound else 200
    return render_page(request, "compaction/turns/new.html", context, status=status)
