"""What comes of a press on "Compact": a run, or a sentence on why there is none.

The same act answers three readers: a script gets JSON, htmx a fragment, a browser a
page. A run that is already on its way is the answer to a second press.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.urls import reverse

from compaction.models import Session
from compaction.services.runs.starting import QueuedRun, Refusal, RunRequest
from compaction.tasks import start_run
from compaction.views._access import wants_json
from compaction.views._render import go_to, page_or_fragment, wants_fragment
from compaction.views._sessions import session_frame
from compaction.views.runs import show_run_progress

_STATUS = {
    Refusal.STALE_PLAN: 409,
    Refusal.ALREADY_DONE: 409,
    Refusal.COOLDOWN: 409,
    Refusal.TURN_ACTIVE: 409,
}


def answer_start(
    request: HttpRequest,
    session: Session,
    asked: RunRequest,
    context: Mapping[str, Any],
) -> HttpResponseBase:
    """Start a run and answer; `context` is what a refusal's page needs beside it."""
    queued = start_run(session, asked)
    if queued.refusal in _STATUS:
        return _refuse(request, session, queued, context)
    assert queued.run is not None
    if wants_json(request):
        return _tell_script(queued)
    if wants_fragment(request):
        return _show_progress(request, queued)
    return go_to(request, reverse("run", args=[queued.run.pk]))


def _tell_script(queued: QueuedRun) -> JsonResponse:
    assert queued.run is not None
    url = reverse("run", args=[queued.run.pk])
    told = {
        "run": str(queued.run.pk),
        "created": queued.created,
        "status": queued.run.status,
        "url": url,
    }
    return JsonResponse(told, status=202, headers={"Location": url})


def _show_progress(request: HttpRequest, queued: QueuedRun) -> HttpResponseBase:
    """Answer 202 with the run's live progress."""
    assert queued.run is not None
    request.method = "GET"
    response = show_run_progress(request, run_id=queued.run.pk)
    response.status_code = 202
    return response


def _refuse(
    request: HttpRequest,
    session: Session,
    queued: QueuedRun,
    context: Mapping[str, Any],
) -> HttpResponseBase:
    assert queued.refusal is not None
    status = _STATUS[queued.refusal]
    if wants_json(request):
        return JsonResponse(_refusal_of(queued), status=status)
    page = {
        **context,
        **session_frame(request, session, "compact"),
        "refusal": queued.refusal.value,
        "cooldown": queued.cooldown,
        "tip": queued.tip,
    }
    return page_or_fragment(
        request,
        "compaction/compact/detail.html",
        plan_fragment(request),
        page,
        status=status,
    )


def plan_fragment(request: HttpRequest) -> str:
    """Return the fragment for where htmx puts it: the plan, or a line in the head."""
    is_plan = request.headers.get("HX-Target", "").endswith("#plan")
    return f"compaction/compact/{'_plan' if is_plan else '_refusal'}.html"


def _refusal_of(queued: QueuedRun) -> dict[str, Any]:
    told: dict[str, Any] = {"refusal": str(queued.refusal)}
    if queued.cooldown is not None:
        told["until"] = queued.cooldown.until.isoformat()
    if queued.tip is not None:
        told["tip"] = queued.tip.pk
    return told
