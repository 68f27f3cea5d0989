"""The policy of one conversation: what it follows, its own values, and from where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from compaction.engine.policy import PolicyError
from compaction.forms.policies import (
    ConversationPolicyForm,
    show_value,
    write_values,
)
from compaction.forms.policy_fields import GROUPS, FieldGroup, FieldText
from compaction.models import Session
from compaction.selectors.policies import list_profiles, preset_below, room_in
from compaction.services.policies import (
    PolicyInForce,
    policy_in_force,
    set_policy,
)
from compaction.services.roles import Verb, can
from compaction.store.policies import own_values, preset_of
from compaction.views._access import allow, operator_of, refusal_for
from compaction.views._render import go_to, page_or_fragment
from compaction.views._sessions import session_frame, with_session


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """One value in force, and who set it: preset, window, profile or conversation."""

    field: FieldText
    value: str
    source: str


@require_http_methods(["GET", "HEAD", "POST"])
@allow(Verb.VIEW)
@with_session
def change_policy(request: HttpRequest, session: Session) -> HttpResponse:
    """Show where every value comes from; let operators change what is followed."""
    if request.method != "POST":
        return _show(request, session, _first_form(session))
    refusal_for(request, Verb.SET_POLICY)
    form = ConversationPolicyForm(
        request.POST, profiles=list(list_profiles()), below=_below(request, session)
    )
    if not form.is_valid():
        return _show(request, session, form)
    return _save(request, session, form)


def _first_form(session: Session) -> ConversationPolicyForm:
    conversation = session.conversation
    profile = conversation.profile
    preset = preset_of(conversation)
    follows = f"profile:{profile.pk}" if profile else f"preset:{preset.name}"
    return ConversationPolicyForm(
        initial={**write_values(own_values(conversation)), "follows": follows},
        profiles=list(list_profiles()),
        below=preset,
    )


def _below(request: HttpRequest, session: Session) -> Any:
    kind, _mark, name = request.POST.get("follows", "").partition(":")
    return preset_below(name) if kind == "preset" else preset_of(session.conversation)


def _save(
    request: HttpRequest, session: Session, form: ConversationPolicyForm
) -> HttpResponse:
    try:
        set_policy(
            session.conversation,
            form.to_choice(),
            operator=operator_of(request),
            reason=form.cleaned_data["reason"],
        )
    except PolicyError as error:
        session.conversation.refresh_from_db()
        if error.floor is None:
            form.refuse(error)
        else:
            form.add_error(error.field, _floor_sentence(error.floor))
        return _show(request, session, form)
    messages.success(request, gettext("The policy of this conversation is changed."))
    return go_to(request, reverse("session-policy", args=[session.pk]))


def _floor_sentence(floor: int) -> str:
    said = gettext(
        "No run could get below this threshold: what stays, with the shortest summary, "
        "takes about %(floor)s tokens. Choose a higher threshold, or protect less."
    )
    return said % {"floor": f"{floor:,}"}


def _show(
    request: HttpRequest, session: Session, form: ConversationPolicyForm
) -> HttpResponse:
    in_force = policy_in_force(session)
    context = {
        **session_frame(request, session, "policy"),
        "form": form,
        "in_force": in_force,
        "origins": [(group, list(_origins(group, in_force))) for group in GROUPS],
        "room": room_in(session, in_force.policy),
        "can_edit": can(request.user, Verb.SET_POLICY),
        "set_values": _set_values(in_force),
    }
    return page_or_fragment(
        request,
        "compaction/policies/session.html",
        "compaction/policies/_session.html",
        context,
        status=422 if form.is_bound else 200,
    )


def _origins(group: FieldGroup, in_force: PolicyInForce) -> Iterator[Origin]:
    for field in group.fields:
        yield Origin(
            field=field,
            value=show_value(field, getattr(in_force.policy, field.name)),
            source=in_force.source_of(field.name),
        )


def _set_values(in_force: PolicyInForce) -> Sequence[Origin]:
    """What the profile or the conversation set; the window is shown apart."""
    every = (row for group in GROUPS for row in _origins(group, in_force))
    return [row for row in every if row.source != "preset"]
