"""Endpoints: who answers turns and writes summaries; kept by admins, read by all."""

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

from compaction import wiring
from compaction.adapters.address_rules import AddressRule
from compaction.adapters.name_lookup import resolve_within
from compaction.forms.endpoints import EndpointForm, values_of
from compaction.models import Endpoint
from compaction.selectors.endpoints import (
    endpoints_page,
    find_endpoint,
    find_environment_endpoint,
)
from compaction.services.endpoint_trials import note_trial, try_endpoint
from compaction.services.endpoints import (
    Direction,
    EndpointConflict,
    EndpointDraft,
    EndpointFault,
    check_draft,
    delete_endpoint,
    disable_endpoint,
    enable_endpoint,
    move_endpoint,
    save_endpoint,
)
from compaction.services.roles import Verb
from compaction.store.endpoint_trials import Trial
from compaction.views._access import allow, operator_of
from compaction.views._render import go_to, page_or_fragment, render_page

RESOLVE_SECONDS = 3.0
"""How long a person waits for the look-up of a name; without an answer it passes."""


@require_safe
@allow(Verb.VIEW)
def list_endpoints(request: HttpRequest) -> HttpResponse:
    """Show every endpoint and what it does now."""
    return _show_list(request)


def _show_list(
    request: HttpRequest, tested: str = "", trial: Trial | None = None
) -> HttpResponse:
    context = {
        "page": "endpoints",
        "endpoints": endpoints_page(),
        "tested": tested,
        "trial": trial,
    }
    return page_or_fragment(
        request,
        "compaction/endpoints/list.html",
        "compaction/endpoints/_list.html",
        context,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@allow(Verb.EDIT_ENDPOINTS)
def add(request: HttpRequest) -> HttpResponse:
    """Show the form of a new endpoint; save or test what comes back."""
    if request.method == "POST":
        return _take(request, None)
    return _show_form(request, EndpointForm())


@require_http_methods(["GET", "HEAD", "POST"])
@allow(Verb.EDIT_ENDPOINTS)
def change(request: HttpRequest, name: str) -> HttpResponse:
    """Show the form of an endpoint; save or test what comes back."""
    endpoint = _find(name)
    if request.method == "POST":
        return _take(request, endpoint)
    return _show_form(request, EndpointForm(initial=values_of(endpoint)), endpoint)


def _take(request: HttpRequest, endpoint: Endpoint | None) -> HttpResponse:
    form = EndpointForm(request.POST)
    if not form.is_valid():
        return _show_form(request, form, endpoint, status=422)
    draft = form.to_draft()
    try:
        check_draft(draft, resolve=resolve_within(RESOLVE_SECONDS))
        if "test" in request.POST:
            trial = try_endpoint(_spec_of(draft))
            return _show_form(request, form, endpoint, trial=trial)
        saved = save_endpoint(draft, operator=operator_of(request), endpoint=endpoint)
    except EndpointFault as fault:
        form.refuse(fault)
        return _show_form(request, form, endpoint, status=422)
    if isinstance(saved, EndpointConflict):
        return _show_conflict(request, form, endpoint, saved)
    said = gettext("The endpoint “%(name)s” is saved.") % {"name": saved.name}
    messages.success(request, said)
    return go_to(request, reverse("endpoint-list"))


def _spec_of(draft: EndpointDraft) -> wiring.EndpointSpec:
    return wiring.EndpointSpec(
        name=draft.name,
        base_url=draft.base_url,
        model=draft.model,
        window=draft.window,
        key_env=draft.key_env,
        timeout=draft.timeout,
        rule=AddressRule.PRIVATE if draft.allow_private else AddressRule.PUBLIC,
    )


def _show_form(
    request: HttpRequest,
    form: EndpointForm,
    endpoint: Endpoint | None = None,
    **more: Any,
) -> HttpResponse:
    context = {"page": "endpoints", "form": form, "endpoint": endpoint, **more}
    return page_or_fragment(
        request,
        "compaction/endpoints/edit.html",
        "compaction/endpoints/_edit.html",
        context,
        status=more.get("status", 200),
    )


def _show_conflict(
    request: HttpRequest,
    form: EndpointForm,
    endpoint: Endpoint | None,
    conflict: EndpointConflict,
) -> HttpResponse:
    """Show the form again, with theirs beside it; saving once more replaces theirs."""
    theirs = conflict.theirs
    is_namesake = theirs is not None and (endpoint is None or theirs.pk != endpoint.pk)
    if is_namesake:
        form.refuse(EndpointFault("name", "taken"))
        return _show_form(request, form, endpoint, status=422)
    version = theirs.version if theirs else None
    values = {name: form.cleaned_data.get(name) for name in form.fields}
    again = EndpointForm(initial={**values, "base_version": version})
    context = {"theirs": theirs, "is_gone": theirs is None, "status": 409}
    return _show_form(request, again, endpoint, **context)


@require_http_methods(["GET", "HEAD", "POST"])
@allow(Verb.EDIT_ENDPOINTS)
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Ask, then delete an endpoint."""
    endpoint = _find(name)
    if request.method != "POST":
        context = {"page": "endpoints", "endpoint": endpoint}
        return render_page(request, "compaction/endpoints/delete.html", context)
    delete_endpoint(endpoint, operator=operator_of(request))
    said = gettext("The endpoint “%(name)s” is deleted.") % {"name": name}
    messages.success(request, said)
    return go_to(request, reverse("endpoint-list"))


@require_POST
@allow(Verb.EDIT_ENDPOINTS)
def move(request: HttpRequest, name: str) -> HttpResponse:
    """Move an endpoint in the order."""
    wanted = request.POST.get("direction", "")
    if wanted not in set(Direction):
        raise Http404
    move_endpoint(_find(name), Direction(wanted), operator=operator_of(request))
    return go_to(request, reverse("endpoint-list"))


@require_POST
@allow(Verb.EDIT_ENDPOINTS)
def enable(request: HttpRequest, name: str) -> HttpResponse:
    """Let an endpoint be asked again."""
    enable_endpoint(_find(name), operator=operator_of(request))
    said = gettext("The endpoint “%(name)s” is asked again.") % {"name": name}
    messages.success(request, said)
    return go_to(request, reverse("endpoint-list"))


@require_POST
@allow(Verb.EDIT_ENDPOINTS)
def disable(request: HttpRequest, name: str) -> HttpResponse:
    """Ask an endpoint no more."""
    disable_endpoint(_find(name), operator=operator_of(request))
    said = gettext("The endpoint “%(name)s” is asked no more.") % {"name": name}
    messages.success(request, said)
    return go_to(request, reverse("endpoint-list"))


@require_POST
@allow(Verb.EDIT_ENDPOINTS)
def test(request: HttpRequest, name: str) -> HttpResponse:
    """Ask an endpoint one small thing, and show on the list what came of it."""
    own = find_environment_endpoint(name)
    if own is not None:
        return _show_list(request, name, try_endpoint(own))
    endpoint = _find(name)
    trial = try_endpoint(wiring.to_spec(endpoint))
    note_trial(endpoint, trial)
    return _show_list(request, name, trial)


def _find(name: str) -> Endpoint:
    endpoint = find_endpoint(name)
    if endpoint is None:
        raise Http404
    return endpoint
