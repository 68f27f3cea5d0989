"""Recovery: what waits, what fell back, what is stuck, and which errors came."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from compaction.selectors.recovery import (
    DEFAULT_SPAN,
    PAGE_SIZE,
    SPANS,
    Recovery,
    RecoveryQuery,
    read_recovery,
    recovery_mark,
)
from compaction.services.roles import Verb
from compaction.views._access import allow, refusal_for
from compaction.views._events import as_stream, tell_changes
from compaction.views._query import query_with
from compaction.views._render import page_or_fragment

LIVE_SECONDS = 5
LOOK_SECONDS = 1.0


@require_safe
@allow(Verb.VIEW)
def show_recovery(request: HttpRequest) -> HttpResponse:
    """Show the state of recovery; what narrows the errors is in the address."""
    query, now = _read_query(request), timezone.now()
    recovery = read_recovery(query, now)
    context = {
        "page": "recovery",
        "recovery": recovery,
        "query": query,
        "spans": _choices(
            request, "span", [(name, None) for name in SPANS], query.span
        ),
        "reasons": _reasons(request, recovery, query),
        "endpoints": _choices(request, "endpoint", recovery.endpoints, query.endpoint),
        "paging": _paging(request, recovery),
        "is_first": not query.after,
        "is_narrowed": bool(query.reason or query.endpoint),
        "all_query": query_with(request, reason=None, endpoint=None, after=None),
        "live_seconds": LIVE_SECONDS,
        "now": now,
    }
    return page_or_fragment(
        request,
        "compaction/recovery/recovery.html",
        "compaction/recovery/_recovery.html",
        context,
    )


def _read_query(request: HttpRequest) -> RecoveryQuery:
    asked = {
        name: request.GET.get(name, "").replace("\x00", "")[:160]
        for name in ("reason", "endpoint", "after")
    }
    span = request.GET.get("span", DEFAULT_SPAN)
    return RecoveryQuery(span=span if span in SPANS else DEFAULT_SPAN, **asked)


def _choices(
    request: HttpRequest, name: str, values: Any, chosen: str
) -> list[dict[str, Any]]:
    return [
        {
            "value": value,
            "count": count,
            "is_on": value == chosen,
            "query": query_with(request, after=None, **{name: _turn(value, chosen)}),
        }
        for value, count in values
    ]


def _turn(value: str, chosen: str) -> str | None:
    """A second press takes a choice back, but one span is always chosen."""
    return None if value == chosen and value not in SPANS else value


def _reasons(
    request: HttpRequest, recovery: Recovery, query: RecoveryQuery
) -> list[dict[str, Any]]:
    rows = {row.reason: row for row in recovery.reasons}
    choices = _choices(
        request,
        "reason",
        [(name, row.count) for name, row in rows.items()],
        query.reason,
    )
    return [{**choice, "row": rows[choice["value"]]} for choice in choices]


def _paging(request: HttpRequest, recovery: Recovery) -> dict[str, Any]:
    next_place = recovery.errors.next
    next_url = query_with(request, after=next_place) if next_place else ""
    return {"size": PAGE_SIZE, "next_url": next_url}


@require_safe
async def stream_recovery(request: HttpRequest) -> HttpResponseBase:
    """Say whenever the page would be another one."""
    refusal = await sync_to_async(refusal_for)(request, Verb.VIEW)
    if refusal is not None:
        return refusal
    return as_stream(tell_changes(_mark_now, seconds=LOOK_SECONDS))


def _mark_now() -> Hashable:
    return recovery_mark(timezone.now())
