"""A turn as server-sent events: what it says and does while it happens.

The id of an event is the number of the last chunk in it and, where a text is open, the
number of its first: a browser that comes back goes on from there.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponseBase
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_safe

from compaction.models import Turn, TurnChunk
from compaction.selectors.overview import WAITS_LONG
from compaction.selectors.turns import (
    Step,
    call_of,
    chunks_after,
    find_turn,
    newest_run_chunk,
    steps_of,
    turn_detail,
)
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

LOOK_SECONDS = 0.25
Kind = TurnChunk.Kind
State = tuple[str, str, str, object]
"""Status, step, its detail and the end of a wait: what the sentence on top says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far a browser is; `text` is the number of the text that is open, or 0."""

    number: int = 0
    text: int = 0

    def __str__(self) -> str:
        return f"{self.number}.{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Something for a place on the page: a step, or more of a text."""

    target: str
    swap: str
    step: Step | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What one look at a turn found; `html` is empty when nothing has changed."""

    state: State
    place: Place
    html: str
    has_ended: bool


@require_safe
async def stream_turn(request: HttpRequest, turn_id: uuid.UUID) -> HttpResponseBase:
    """Send what happens in a turn until it has ended."""
    refusal = await sync_to_async(refusal_for)(request, Verb.VIEW)
    if refusal is not None:
        return refusal
    if await look(partial(find_turn, turn_id)) is None:
        raise Http404
    place = read_place(request.headers.get("Last-Event-ID", ""))
    return as_stream(_follow(turn_id, place))


def read_place(text: str) -> Place | None:
    """Read the id of the last event that a browser has; None for a first look."""
    number, _, open_text = text[:24].partition(".")
    if number.isdecimal() and open_text.isdecimal():
        return Place(number=int(number), text=int(open_text))
    return None


async def _follow(turn_id: uuid.UUID, place: Place | None) -> AsyncIterator[str]:
    state: State | None = None
    quiet = 0.0
    while True:
        seen = await look(partial(look_at, turn_id, place, state))
        if seen is None:
            return
        if seen.html:
            quiet = 0.0
            yield write_event(seen.html, str(seen.place))
        elif quiet >= KEEP_ALIVE_SECONDS:
            quiet = 0.0
            yield STILL_HERE
        if seen.has_ended:
            yield DONE
            return
        place, state = seen.place, seen.state
        quiet += LOOK_SECONDS
        await asyncio.sleep(LOOK_SECONDS)


def look_at(
    turn_id: uuid.UUID, place: Place | None, state: State | None
) -> Sighting | None:
    """Look at a turn once; None when it is not there."""
    turn = find_turn(turn_id)
    if turn is None:
        return None
    now = (turn.status, turn.step, turn.step_detail, turn.wait_until)
    if place is None:
        puts, reached = _all_of(turn)
    else:
        puts, reached = _more_of(turn, place, is_new_state=now != state)
    is_news = bool(puts) or now != state or place is None
    return Sighting(
        state=now,
        place=reached,
        html=_render(turn, puts, place, is_new_state=now != state) if is_news else "",
        has_ended=not turn.is_active,
    )


def _all_of(turn: Turn) -> tuple[list[Put], Place]:
    """Everything so far, for a browser that has nothing yet."""
    steps = turn_detail(turn).steps
    puts = [Put(target="", swap="", step=step) for step in steps]
    newest = turn.chunks.order_by("-number").first()
    is_open = newest is not None and newest.kind == Kind.TEXT
    return puts, Place(
        number=newest.number if newest else 0,
        text=steps[-1].number if is_open and steps else 0,
    )


def _more_of(
    turn: Turn, place: Place, *, is_new_state: bool
) -> tuple[list[Put], Place]:
    """What came since; the newest run is drawn again, for it may have ended."""
    chunks = chunks_after(turn.pk, place.number)
    puts: list[Put] = []
    if chunks or is_new_state:
        run = newest_run_chunk(turn.pk, place.number)
        puts += _again([run]) if run else []
    puts += _news_of(chunks, place)
    for chunk in chunks:
        place = _past(chunk, place)
    return puts, place


def _past(chunk: TurnChunk, place: Place) -> Place:
    if chunk.kind != Kind.TEXT:
        return Place(number=chunk.number)
    return replace(place, number=chunk.number, text=place.text or chunk.number)


def _news_of(chunks: Sequence[TurnChunk], place: Place) -> Iterator[Put]:
    """Say what goes where; the places of one message must be there before it.

    So a result whose call is in the same message stands in it from the beginning, and
    the pieces of a new text come as one.
    """
    is_open = place.text > 0
    calls = {chunk.number for chunk in chunks if chunk.kind == Kind.CALL}
    new: list[TurnChunk] = []
    for chunk in chunks:
        is_open = is_open and chunk.kind == Kind.TEXT
        call = call_of(chunk) if chunk.kind == Kind.RESULT else None
        if is_open:
            target = f"#step-{place.text}-text"
            yield Put(target=target, swap="beforeend", text=chunk.text)
        elif call is not None and call.number not in calls:
            yield from _again([call, chunk])
        else:
            new.append(chunk)
    for step in steps_of(new):
        yield Put(target="#turn-steps", swap="beforeend", step=step)


def _again(chunks: Sequence[TurnChunk]) -> Iterator[Put]:
    for step in steps_of(chunks):
        yield Put(target=f"#step-{step.number}", swap="outerHTML", step=step)


def _render(
    turn: Turn, puts: Sequence[Put], place: Place | None, *, is_new_state: bool
) -> str:
    return render_to_string(
        "compaction/turns/_stream.html",
        {
            "turn": turn,
            "puts": puts,
            "is_first": place is None,
            "is_new_state": is_new_state,
            "is_waiting_long": timezone.now() - turn.queued_at > WAITS_LONG,
        },
    )
