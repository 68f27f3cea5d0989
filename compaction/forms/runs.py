"""What an address asks the Runs list for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compaction.engine.triggers import Trigger
from compaction.models import Run
from compaction.selectors.keyset import BadCursor, Cursor, read_cursor
from compaction.selectors.runs import DEFAULT_SORT, SORTS, RunFilters

_ALLOWED: Mapping[str, frozenset[str]] = {
    "status": frozenset(Run.Status.values),
    "outcome": frozenset(Run.Outcome.values),
    "trigger": frozenset(trigger.value for trigger in Trigger),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuery:
    """Filters, order and place in the list, read from an address."""

    filters: RunFilters
    sort: str
    cursor: Cursor | None


def read_run_query(query: Mapping[str, str]) -> RunQuery:
    """Read an address; what makes no sense in it is left out, as if absent."""
    chosen = {
        name: value
        for name, allowed in _ALLOWED.items()
        if (value := query.get(name, "")) in allowed
    }
    sort = query.get("sort", "")
    if sort.removeprefix("-") not in SORTS:
        sort = DEFAULT_SORT
    return RunQuery(
        filters=RunFilters(**chosen), sort=sort, cursor=_read_cursor(query, sort)
    )


def _read_cursor(query: Mapping[str, str], sort: str) -> Cursor | None:
    is_before = bool(query.get("before"))
    text = query.get("before") or query.get("after") or ""
    if not text:
        return None
    try:
        keyset = SORTS[sort.removeprefix("-")]
        return read_cursor(text, keyset, is_before=is_before)
    except BadCursor:
        return None
