"""A run as server-sent events: its steps and its text while they happen.

Each event is one unnamed message of `<hx-partial>` elements, which htmx puts where
they belong; its id is the last batch of text in it, so that a browser that comes back
goes on from there. A last event named `done` closes the stream.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponseBase
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from compaction.models import Run
from compaction.selectors.run_detail import Streamed, find_progress, streamed_text
from compaction.selectors.run_steps import steps_of
from compaction.services.roles import Verb
from compaction.views._access import refusal_for
from compaction.views._events import (
    DONE,
    KEEP_ALIVE_SECONDS,
    STILL_HERE,
    as_stream,
    look,
    write_event,
)

State = tuple[str, str, int]
"""Status, phase and attempt: what the steps depend on."""

LOOK_SECONDS = 0.25


@require_safe
async def stream_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponseBase:
    """Send what happens to a run until it has ended."""
    refusal = await sync_to_async(refusal_for)(request, Verb.VIEW)
    if refusal is not None:
        return refusal
    place = _read_place(request.headers.get("Last-Event-ID", ""))
    if await look(partial(_sight, run_id, place, None)) is None:
        raise Http404
    return as_stream(_follow(run_id, place))


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far a browser is: the attempt and batch of the text it has."""

    attempt: int = 0
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What one look at a run found; `html` is empty when nothing has changed."""

    state: State
    place: Place
    html: str
    has_ended: bool


def _read_place(text: str) -> Place | None:
    attempt, _, seq = text.partition(".")
    if attempt.isdecimal() and seq.isdecimal():
        return Place(attempt=int(attempt), seq=int(seq))
    return None


async def _follow(run_id: uuid.UUID, place: Place | None) -> AsyncIterator[str]:
    state: State | None = None
    quiet = 0.0
    while True:
        seen = await look(partial(_sight, run_id, place, state))
        if seen is None:
            return
        if seen.html:
            yield write_event(seen.html, f"{seen.place.attempt}.{seen.place.seq}")
        elif quiet >= KEEP_ALIVE_SECONDS:
            yield STILL_HERE
        quiet = quiet + LOOK_SECONDS if not seen.html else 0.0
        if seen.has_ended:
            yield DONE
            return
        place, state = seen.place, seen.state
        await asyncio.sleep(LOOK_SECONDS)


def _sight(
    run_id: uuid.UUID, place: Place | None, state: State | None
) -> Sighting | None:
    run = find_progress(run_id)
    if run is None:
        return None
    known = place or Place()
    text = streamed_text(run_id, attempt=known.attempt, seq=known.seq)
    now = (run.status, run.phase, run.attempt)
    return Sighting(
        state=now,
        place=Place(attempt=text.attempt, seq=text.seq),
        html=_render(run, text, place, is_new_state=now != state),
        has_ended=not run.is_active,
    )


def _render(
    run: Run, text: Streamed, place: Place | None, *, is_new_state: bool
) -> str:
    starts_over = place is None or text.attempt != place.attempt
    if not (is_new_state or text.text or (starts_over and text.attempt)):
        return ""
    return render_to_string(
        "compaction/runs/_stream.html",
        {
            "steps": steps_of(run) if is_new_state else (),
            "text": text.text,
            "starts_over": starts_over,
            "is_first": place is None,
        },
    )
