"""The list of runs, and one run with its live progress."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from compaction.engine.policy import CompactionPolicy, PolicyError
from compaction.engine.policy_values import policy_from_dict
from compaction.forms.runs import RunQuery, read_run_query
from compaction.models import Run
from compaction.selectors.losses import loss_panel
from compaction.selectors.overview import WAITS_LONG
from compaction.selectors.run_detail import RunDetail, find_run, run_detail
from compaction.selectors.run_steps import steps_of
from compaction.selectors.runs import PAGE_SIZE, SORTS, RunList, list_runs
from compaction.services.losses import may_answer
from compaction.services.roles import Verb
from compaction.services.runs.failures import PLACEHOLDER, STOOD_IN
from compaction.services.runs.starting import cancel_run
from compaction.views._access import allow, operator_of
from compaction.views._query import query_with
from compaction.views._render import (
    go_to,
    page_or_fragment,
    render_page,
    wants_fragment,
)

_TONES = {
    "queued": "info",
    "in_progress": "info",
    "summarised": "ok",
    "pruned": "ok",
    "stuck": "bad",
    "failed": "bad",
    "aborted": "warn",
    "cooldown": "warn",
    "deferred": "info",
}
_OWN_FAULTS = ("superseded", "stale_plan", "gave_up", "internal_error")
"""Reasons that are no fault of the summariser."""

BUSY_SECONDS = 2
QUIET_SECONDS = 10
"""How often the list renews itself while something runs, and while nothing does."""


@require_safe
@allow(Verb.VIEW)
def list_all_runs(request: HttpRequest) -> HttpResponse:
    """Show one page of runs; everything that narrows it is in the address."""
    query = read_run_query(request.GET)
    runs = list_runs(query.filters, sort=query.sort, cursor=query.cursor)
    context = {
        "page": "runs",
        "runs": runs,
        "facets": _facets(request, runs, query),
        "columns": _columns(request, query.sort),
        "paging": _paging(request, runs),
        "is_first": query.cursor is None,
        "live_seconds": BUSY_SECONDS if runs.active else QUIET_SECONDS,
        "now": timezone.now(),
    }
    return page_or_fragment(
        request,
        "compaction/runs/list.html",
        "compaction/runs/_list.html",
        context,
    )


def _facets(
    request: HttpRequest, runs: RunList, query: RunQuery
) -> list[dict[str, Any]]:
    chosen = query.filters.chosen()
    return [
        {
            "name": name,
            "choices": [
                {
                    "value": choice.value,
                    "count": choice.count,
                    "is_on": chosen.get(name) == choice.value,
                    "query": _choose(request, name, choice.value, chosen),
                }
                for choice in choices
            ],
        }
        for name, choices in runs.facets.items()
    ]


def _choose(request: HttpRequest, name: str, value: str, chosen: dict[str, str]) -> str:
    turned = None if chosen.get(name) == value else value
    return query_with(request, after=None, before=None, **{name: turned})


def _columns(request: HttpRequest, sort: str) -> dict[str, dict[str, str]]:
    """Say for each sortable column where its heading leads and how it is ordered."""
    return {
        name: {
            "query": query_with(
                request, after=None, before=None, sort=_turn(sort, name)
            ),
            "order": _order(sort, name),
        }
        for name in SORTS
    }


def _turn(sort: str, name: str) -> str:
    return name if sort == f"-{name}" else f"-{name}"


def _order(sort: str, name: str) -> str:
    if sort.removeprefix("-") != name:
        return ""
    return "descending" if sort.startswith("-") else "ascending"


def _paging(request: HttpRequest, runs: RunList) -> dict[str, Any]:
    page = runs.page
    return {
        "size": PAGE_SIZE,
        "next_url": page.next and query_with(request, after=page.next, before=None),
        "previous_url": page.previous
        and query_with(request, before=page.previous, after=None),
    }


@require_safe
@allow(Verb.VIEW)
def show_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Show one run: what came of it, how, and what to do now."""
    return render_page(
        request, "compaction/runs/detail.html", _run_context(request, run_id)
    )


@require_safe
@allow(Verb.VIEW)
def show_run_progress(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Show the part of the page that changes; asked for again until the run ends.

    On another page than its own, a run's end goes to its own: what stands around it
    there tells of the session as it was before.
    """
    context = _run_context(request, run_id)
    own_page = reverse("run", args=[run_id])
    if not context["run"].is_active and _is_shown_elsewhere(request, own_page):
        return go_to(request, own_page)
    return page_or_fragment(
        request,
        "compaction/runs/detail.html",
        "compaction/runs/_progress.html",
        context,
    )


def _is_shown_elsewhere(request: HttpRequest, page: str) -> bool:
    """True when the fragment goes into a page that is not `page`."""
    shown_in = request.headers.get("HX-Current-URL", "")
    return wants_fragment(request) and urlsplit(shown_in).path not in ("", page)


@require_POST
@allow(Verb.CANCEL_RUN)
def stop_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Cancel a run that is on its way; say so when it had already ended."""
    run = find_run(run_id)
    if run is None:
        raise Http404
    if cancel_run(run.pk, operator=operator_of(request)):
        messages.success(request, gettext("The run was cancelled."))
    else:
        messages.info(request, gettext("The run had already ended."))
    return go_to(request, reverse("run", args=[run_id]))


def _run_context(request: HttpRequest, run_id: uuid.UUID) -> dict[str, Any]:
    detail = _find(run_id)
    run, now = detail.run, timezone.now()
    done = {event.action for event in detail.events}
    return {
        "page": "runs",
        "detail": detail,
        "run": run,
        "session": run.session,
        "conversation": run.session.conversation,
        "steps": steps_of(run),
        "policy": _policy_of(run),
        "verdict_tone": _TONES.get(run.outcome or run.status, "off"),
        "is_waiting_long": now - run.queued_at > WAITS_LONG,
        "is_stand_in": STOOD_IN in done,
        "is_placeholder": PLACEHOLDER in done,
        "own_faults": _OWN_FAULTS,
        "losses": loss_panel(detail.summary),
        "may_answer": may_answer(request.user, detail.summary),
        "now": now,
    }


def _policy_of(run: Run) -> CompactionPolicy | None:
    """Return the policy that a run used; None when this version cannot read it."""
    try:
        return policy_from_dict(run.policy)
    except PolicyError:
        return None


def _find(run_id: uuid.UUID) -> RunDetail:
    detail = run_detail(run_id)
    if detail is None:
        raise Http404
    return detail
