"""Server-sent events: a loop that looks again and again, in a few shared threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection
from django.http import StreamingHttpResponse

T = TypeVar("T")

KEEP_ALIVE_SECONDS = 15.0
STILL_HERE = ": still here\n\n"
DONE = "event: done\ndata: -\n\n"

# All streams of a process share these threads, so that however many browsers watch,
# the database sees this many connections and no more.
_READERS = ThreadPoolExecutor(max_workers=4, thread_name_prefix="events")


async def look(question: Callable[[], T]) -> T:
    """Ask the database in one of the shared threads."""
    asked = sync_to_async(_ask, thread_sensitive=False, executor=_READERS)
    return await asked(question)


def _ask(question: Callable[[], T]) -> T:
    try:
        return question()
    except DatabaseError:
        connection.close()  # the thread lives on and must not keep what broke
        raise


def as_stream(events: AsyncIterator[str]) -> StreamingHttpResponse:
    """Answer with events that no proxy may hold back."""
    response = StreamingHttpResponse(events, content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


def write_event(html: str, event_id: str) -> str:
    """Write HTML as one unnamed message, which htmx puts where its parts say."""
    lines = "".join(f"data: {line}\n" for line in html.split("\n"))
    return f"id: {event_id}\n{lines}\n"


async def tell_changes(
    mark: Callable[[], Hashable], *, seconds: float
) -> AsyncIterator[str]:
    """Send `changed` whenever a mark is another one; the page then asks for the rest.

    The first message says that the stream works: it takes the page's polling away.
    """
    known = await look(mark)
    yield write_event(
        '<hx-partial hx-target="#poll" hx-swap="delete"></hx-partial>', "0"
    )
    quiet = 0.0
    while True:
        await asyncio.sleep(seconds)
        quiet += seconds
        now = await look(mark)
        if now != known:
            known, quiet = now, 0.0
            yield "event: changed\ndata: -\n\n"
        elif quiet >= KEEP_ALIVE_SECONDS:
            quiet = 0.0
            yield STILL_HERE
