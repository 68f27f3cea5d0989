"""The first page of a session: its window, its ruler, its messages and their fate."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from compaction.models import Session
from compaction.selectors.bodies import read_message_body
from compaction.selectors.context import has_continuation
from compaction.selectors.events import (
    ended_runs,
    last_events,
    loops_of,
    run_that_compacted,
)
from compaction.selectors.losses import loss_panel
from compaction.selectors.messages import SHOWS, read_window
from compaction.selectors.plans import Picture
from compaction.selectors.verdicts import standing_of
from compaction.selectors.window import window_of
from compaction.services.roles import Verb
from compaction.store.policies import PolicyInForce
from compaction.store.task_states import newest_task_version
from compaction.views._access import allow
from compaction.views._numbers import read_number
from compaction.views._planning import PlannedPage, plan_of, plan_page
from compaction.views._render import (
    page_or_fragment,
    render_fragment,
    render_page,
    wants_fragment,
)
from compaction.views._sessions import is_exact, session_frame, with_session

EVENTS_SHOWN = 5


@require_safe
@allow(Verb.VIEW)
@with_session
def show_context(request: HttpRequest, session: Session) -> HttpResponse:
    """Show where a session stands and why; htmx gets another window of messages."""
    past = run_that_compacted(session) if has_continuation(session) else None
    planned = plan_of(session, past) if past else plan_page(session)
    listing = _listing(request, session, planned.picture)
    if wants_fragment(request):
        return render_fragment(request, "compaction/context/_messages.html", listing)
    context = {**listing, **_surroundings(request, session, planned), "past": past}
    return render_page(request, "compaction/context/detail.html", context)


def _listing(
    request: HttpRequest, session: Session, picture: Picture
) -> dict[str, Any]:
    show = request.GET.get("show", "all")
    return {
        "session": session,
        "exact": "?exact=1" if is_exact(request) else "",
        "listing": read_window(
            session,
            picture,
            at=read_number(request.GET.get("at"), default=0),
            show=show if show in SHOWS else "all",
        ),
        "shows": _shows(picture),
    }


def _surroundings(
    request: HttpRequest, session: Session, planned: PlannedPage
) -> dict[str, Any]:
    frame = session_frame(request, session, "context")
    window = window_of(session, planned.picture)
    runs = ended_runs(frame["header"], EVENTS_SHOWN)
    last_run = next((run for run in runs if run.session_id == session.pk), None)
    return {
        **frame,
        "base_url": reverse("session-context", args=[session.pk]),
        "in_force": planned.in_force,
        "origins": _origins(planned.in_force),
        "picture": planned.picture,
        "plan": planned.picture.plan,
        "estimate": planned.estimate,
        "window": window,
        "verdict": standing_of(frame["header"], planned.picture, window, last_run),
        "last_run": last_run,
        "events": last_events(frame["header"], runs, EVENTS_SHOWN),
        "loops": loops_of(frame["header"]),
        "losses": loss_panel(planned.summary),
        "task": _task(session),
    }


def _task(session: Session) -> dict[str, Any]:
    """Return the context of components/_todo.html."""
    newest = newest_task_version(session.conversation)
    return {
        "goal": newest.state.goal,
        "todos": newest.state.todos,
        "version": newest.version,
        "by_agent": newest.by_agent,
        "changed_at": newest.at,
    }


_SHOWN_VALUES = {
    "threshold": ("threshold_cap", "threshold_ratio"),
    "tail": ("tail_tokens", "tail_ratio"),
    "head": ("protect_first", "protect_first_after"),
    "shrink": ("min_shrink",),
    "summary": ("summary_max",),
    "failure": ("on_failure",),
}


def _origins(in_force: PolicyInForce) -> dict[str, str]:
    """Say who set each value that is shown, by the first of its names that is set."""
    return {
        shown: next(
            (in_force.sources[name] for name in names if name in in_force.sources),
            "preset",
        )
        for shown, names in _SHOWN_VALUES.items()
    }


def _shows(picture: Picture) -> list[tuple[str, int]]:
    """What the list can be narrowed to, with how many messages each leaves."""
    counts = ((show, len(picture.shown.get(show, ()))) for show in SHOWS)
    return [(show, count) for show, count in counts if count or show == "all"]


@require_safe
@allow(Verb.VIEW)
@with_session
def show_message(request: HttpRequest, session: Session, position: int) -> HttpResponse:
    """Show one message in full, in pieces; a picture only when it is asked for."""
    start = read_number(request.GET.get("start"), default=0)
    body = read_message_body(session, position, start=start)
    if body is None:
        raise Http404
    context: dict[str, Any] = {
        **session_frame(request, session, "context"),
        "body": body,
        "picture_index": read_number(request.GET.get("picture"), default=-1),
    }
    return page_or_fragment(
        request,
        "compaction/context/message.html",
        "compaction/context/_body.html",
        context,
    )
