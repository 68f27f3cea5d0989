"""Planning a run with chosen values, and starting it: the only page that compacts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_safe

from compaction.engine.compactor import write_prompt
from compaction.engine.phases.prompts import PREVIOUS_PART, SummaryPrompt
from compaction.engine.policy import PolicyError
from compaction.forms.compact import CompactForm
from compaction.models import Session
from compaction.selectors.events import ended_runs
from compaction.selectors.verdicts import standing_of
from compaction.selectors.window import window_of
from compaction.services.roles import Verb, can
from compaction.services.runs.starting import RunRequest
from compaction.store import load_messages
from compaction.store.policies import policy_in_force
from compaction.views._access import allow, operator_of
from compaction.views._numbers import read_number
from compaction.views._planning import PlannedPage, plan_page
from compaction.views._render import page_or_fragment
from compaction.views._sessions import session_frame, with_session
from compaction.views._starting import answer_start

_SIZES = ("messages", "total", "head", "kept", "middle", "tail")


@require_http_methods(["GET", "HEAD", "POST"])
def compact(request: HttpRequest, session_id: str) -> HttpResponseBase:
    """Show the plan (GET, writes nothing) or start the run (POST)."""
    if request.method == "POST":
        return start_compaction(request, session_id=session_id)
    return show_plan(request, session_id=session_id)


@allow(Verb.VIEW)
@with_session
def show_plan(request: HttpRequest, session: Session) -> HttpResponse:
    """Plan with the values of the address; htmx gets the plan without its form."""
    form, planned = plan_form(session, request.GET or None)
    frame = session_frame(request, session, "compact")
    picture = plan_page(session).picture
    window = window_of(session, picture)
    runs = ended_runs(frame["header"], 1)
    last_run = next((run for run in runs if run.session_id == session.pk), None)
    context = {
        **frame,
        **plan_context(form, planned),
        "verdict": standing_of(frame["header"], picture, window, last_run),
        "last_run": last_run,
        "window": window,
    }
    return page_or_fragment(
        request,
        "compaction/compact/detail.html",
        "compaction/compact/_plan.html",
        context,
    )


def plan_form(
    session: Session, data: Mapping[str, Any] | None
) -> tuple[CompactForm, PlannedPage]:
    """Read the values and plan with them; wrong ones leave the policy in force."""
    policy = policy_in_force(session).policy
    form = CompactForm(data, policy=policy, compactions=session.compactions)
    if not form.is_bound or not form.is_valid():
        return form, plan_page(session)
    try:
        return form, plan_page(session, form.values(), focus=form.chosen_focus)
    except PolicyError as error:
        form.note_policy_error(error.field, error.reason)
        return form, plan_page(session)


def plan_context(form: CompactForm, planned: PlannedPage) -> dict[str, Any]:
    """Return the context of `compaction/compact/_plan.html`."""
    plan = planned.picture.plan
    given = form.data if form.is_bound else form.initial
    return {
        "form": form,
        "in_force": planned.in_force,
        "picture": planned.picture,
        "plan": plan,
        "estimate": planned.estimate,
        "values": {name: given[name] for name in form.fields},
        "seen": {name: getattr(plan.sizes, name) for name in _SIZES},
        "listing": None,
    }


@require_safe
@allow(Verb.VIEW)
@with_session
def show_prompt(request: HttpRequest, session: Session) -> HttpResponse:
    """Show the prompt as it would be sent, redacted as it would be."""
    form, planned = plan_form(session, request.GET or None)
    plan = planned.picture.plan
    prompt = write_prompt(plan, load_messages(session))
    if request.GET.get("as") == "text":
        return _as_file(_requests(prompt), name=f"{session.pk}-prompt.txt")
    context = {
        **session_frame(request, session, "compact"),
        **plan_context(form, planned),
        "prompt": prompt,
        "requests": _requests(prompt),
    }
    return page_or_fragment(
        request,
        "compaction/compact/prompt.html",
        "compaction/compact/_prompt.html",
        context,
    )


def _as_file(requests: list[list[dict[str, Any]]], *, name: str) -> HttpResponse:
    """Return every message of every request as one text."""
    parts = [f"[{m['role']}]\n{m['content']}\n" for r in requests for m in r]
    text = "\n".join(parts).encode("utf-8", "replace")
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    disposition = content_disposition_header(as_attachment=True, filename=name)
    response["Content-Disposition"] = disposition or "attachment"
    return response


def _requests(prompt: SummaryPrompt) -> list[list[dict[str, Any]]]:
    """Return the messages of each request; a later one continues an unknown answer."""
    return [
        list(prompt.request_messages(part, PREVIOUS_PART if part else prompt.previous))
        for part in range(len(prompt.parts))
    ]


@allow(Verb.COMPACT)
@with_session
def start_compaction(request: HttpRequest, session: Session) -> HttpResponseBase:
    """Start the run: with the plan that was shown, or with that of this moment.

    Going through a cooldown needs its own permission.
    """
    is_forced = request.POST.get("forced") == "1"
    if is_forced and not can(request.user, Verb.FORCE_COMPACT):
        raise PermissionDenied
    form, planned = plan_form(session, request.POST)
    context = {**plan_context(form, planned), "changes": _changes(request, planned)}
    if not form.is_valid():
        page = {**session_frame(request, session, "compact"), **context}
        return page_or_fragment(
            request,
            "compaction/compact/detail.html",
            "compaction/compact/_plan.html",
            page,
            status=422,
        )
    asked = RunRequest(
        policy=planned.in_force.policy,
        operator=operator_of(request),
        focus=form.chosen_focus,
        forced=is_forced,
        plan_hash=request.POST.get("plan") or None,
        revision=read_number(request.POST.get("revision"), default=-1)
        if request.POST.get("revision")
        else None,
    )
    return answer_start(request, session, asked, context)


def _changes(request: HttpRequest, planned: PlannedPage) -> list[dict[str, Any]]:
    """Compare the sizes that the page showed with those of now."""
    sizes = planned.picture.plan.sizes
    pairs = (
        (name, read_number(request.POST.get(f"seen_{name}"), default=-1))
        for name in _SIZES
    )
    return [
        {"name": name, "before": before, "now": getattr(sizes, name)}
        for name, before in pairs
        if before >= 0 and before != getattr(sizes, name)
    ]
