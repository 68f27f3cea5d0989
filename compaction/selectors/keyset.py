"""Paging by keys: constant cost at any depth, stable under ties, both directions.

The order is (field, id), both descending or both ascending. A cursor is the pair of
the row at the edge of a page; it goes into the address as text.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet

M = TypeVar("M", bound=Model)
T = TypeVar("T")
Value = str | float | datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyset:
    """The column that orders a list; `kind` is time, number or text.

    The column must not hold NULL: a NULL compares with nothing and a row would
    vanish between two pages.
    """

    field: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """An edge: rows after it in the order, or those before it."""

    value: Value
    pk: int | UUID
    is_before: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Rows in order; cursors are None where nothing follows."""

    rows: Sequence[T]
    next: str | None
    previous: str | None

    def with_rows(self, rows: Sequence[Any]) -> Page[Any]:
        """Return the page with the same edges and other rows."""
        return replace(self, rows=rows)


class BadCursor(ValueError):
    """A cursor in an address that we did not write."""


def read_cursor(text: str, keyset: Keyset, *, is_before: bool) -> Cursor:
    """Read a cursor from an address; raises BadCursor."""
    try:
        padded = text + "=" * (-len(text) % 4)
        raw, pk = json.loads(base64.urlsafe_b64decode(padded))
        value = _value(raw, keyset.kind)
        key = pk if isinstance(pk, int) else UUID(pk)
        return Cursor(value=value, pk=key, is_before=is_before)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadCursor(text[:80]) from error


def _value(raw: object, kind: str) -> Value:
    text = str(raw)
    if kind == "time":
        moment = datetime.fromisoformat(text)
        return _accept(moment, moment.tzinfo is not None)
    if kind == "number":
        number = float(text)
        return _accept(number, math.isfinite(number))
    return _accept(text, text.isprintable() or "\x00" not in text)


def _accept(value: Value, is_sound: bool) -> Value:  # noqa: FBT001
    if not is_sound:
        raise ValueError(value)
    return value


def write_cursor(row: Model, keyset: Keyset) -> str:
    """Write the cursor of a row for an address."""
    value = getattr(row, keyset.field)
    raw = value.isoformat() if isinstance(value, datetime) else value
    text = json.dumps([raw, row.pk], separators=(",", ":"), default=str)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_page(
    found: QuerySet[M],
    keyset: Keyset,
    *,
    is_descending: bool,
    cursor: Cursor | None,
    size: int,
) -> Page[M]:
    """Read one page with one query."""
    is_back = cursor is not None and cursor.is_before
    goes_down = is_descending != is_back
    if cursor is not None:
        found = found.filter(_beyond(keyset.field, cursor, goes_down=goes_down))
    sign = "-" if goes_down else ""
    rows = list(found.order_by(f"{sign}{keyset.field}", f"{sign}pk")[: size + 1])
    has_more = len(rows) > size
    rows = rows[:size]
    if is_back:
        rows.reverse()
    return _with_edges(rows, keyset, cursor=cursor, has_more=has_more)


def _beyond(field: str, cursor: Cursor, *, goes_down: bool) -> Q:
    """Rows behind the cursor, written so that an index range is enough to seek."""
    side = "lt" if goes_down else "gt"
    reach = {f"{field}__{side}e": cursor.value}
    past = {f"{field}__{side}": cursor.value}
    return Q(**reach) & (Q(**past) | Q(**{f"pk__{side}": cursor.pk}))


def _with_edges(
    rows: list[M], keyset: Keyset, *, cursor: Cursor | None, has_more: bool
) -> Page[M]:
    is_back = cursor is not None and cursor.is_before
    has_next = has_more or is_back
    has_previous = cursor is not None and (has_more or not is_back)
    return Page(
        rows=rows,
        next=write_cursor(rows[-1], keyset) if rows and has_next else None,
        previous=write_cursor(rows[0], keyset) if rows and has_previous else None,
    )
