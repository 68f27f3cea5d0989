"""The list of conversations."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_safe

from compaction.selectors.facets import count_facets
from compaction.selectors.keyset import BadCursor, Cursor, read_cursor
from compaction.selectors.search import Found, search_conversations, snippets_for
from compaction.selectors.sessions import (
    DEFAULT_SORT,
    PAGE_SIZE,
    SORTS,
    STATES,
    Filters,
    list_page,
)
from compaction.services.roles import Verb
from compaction.views._access import allow
from compaction.views._render import page_or_fragment

_KEPT = ("state", "source", "model", "sort")
"""What a new search leaves as it is."""


@require_safe
@allow(Verb.VIEW)
def list_sessions(request: HttpRequest) -> HttpResponse:
    """Show one page of conversations; all that narrows it stands in the address."""
    now = timezone.now()
    sort = _sort_of(request.GET)
    found = _search(request.GET)
    filters = _filters_of(request.GET, found)
    cursor, is_lost = _cursor_of(request.GET, sort)
    page = list_page(filters, sort=sort, cursor=cursor, now=now)
    context = {
        "page": "sessions",
        "list": page,
        "found": found,
        "snippets": snippets_for(found, [row.pk for row in page.rows]) if found else {},
        "facets": count_facets(filters, now),
        "filters": filters,
        "sort": sort,
        "kept": {name: request.GET[name] for name in _KEPT if request.GET.get(name)},
        "q": request.GET.get("q", "")[:200],
        "size": PAGE_SIZE,
        "is_lost": is_lost,
        "is_first": cursor is None,
        "now": now,
    }
    return page_or_fragment(
        request,
        "compaction/sessions/list.html",
        "compaction/sessions/_list.html",
        context,
    )


def _sort_of(query: QueryDict) -> str:
    sort = query.get("sort", DEFAULT_SORT)
    return sort if sort.removeprefix("-") in SORTS else DEFAULT_SORT


def _search(query: QueryDict) -> Found | None:
    wanted = query.get("q", "").strip()
    return search_conversations(wanted) if wanted else None


def _filters_of(query: QueryDict, found: Found | None) -> Filters:
    state = query.get("state", "")
    return Filters(
        ids=found.conversation_ids if found else None,
        state=state if state in STATES else "",
        source=_clean(query.get("source", "")),
        model=_clean(query.get("model", "")),
    )


def _clean(text: str) -> str:
    """Drop what no column can hold, so that a database is never asked for it."""
    return text.replace("\x00", "")[:255]


def _cursor_of(query: QueryDict, sort: str) -> tuple[Cursor | None, bool]:
    """Return the cursor of the address, and whether it could not be read."""
    keyset = SORTS[sort.removeprefix("-")]
    after, before = query.get("after", ""), query.get("before", "")
    try:
        if after or before:
            is_before = not after
            return read_cursor(after or before, keyset, is_before=is_before), False
    except BadCursor:
        return None, True
    return None, False
