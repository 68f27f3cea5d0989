"""Reading single fields of foreign records: nothing here ever raises.

A log is hostile input: any key may be missing or hold any type. Every function takes
whatever was found and returns the type it names, or an empty value.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

_EMPTY: Mapping[str, Any] = {}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MILLISECONDS_FROM = 1e11  # as seconds this would be the year 5138
_ID_SIZE = 200
_COUNT_LIMIT = 2**31 - 1
_NUMBERS = (int, float)


def mapping(value: object) -> Mapping[str, Any]:
    """Return the value when it is a JSON object, else an empty one."""
    if type(value) is dict:  # isinstance with an abstract class is several times slower
        return value
    return value if isinstance(value, Mapping) else _EMPTY


def listing(value: object) -> Sequence[Any]:
    """Return the value when it is a JSON array, else an empty one."""
    return value if isinstance(value, list | tuple) else ()


def text(value: object) -> str:
    """Return the value when it is text, else nothing; the text stays as it is."""
    return value if isinstance(value, str) else ""


def _is_plain(value: str) -> bool:
    """Nearly every id and name: nothing in it needs a closer look."""
    return value.isascii() and value.isprintable()


def label(value: object, size: int = 200) -> str:
    """Return a short, storable text: no NUL, no lone surrogate, at most `size`."""
    if isinstance(value, str) and len(value) <= size and _is_plain(value):
        return value.strip()
    if isinstance(value, _NUMBERS) and not isinstance(value, bool):
        value = str(value) if abs(value) < 1e300 else ""
    cleaned = _UNSTORABLE.sub("\ufffd", text(value)[: size * 4]).strip()
    return cleaned[:size].rstrip()


def identifier(value: object) -> str:
    """Return an id that fits a column; a longer one keeps its start and a digest."""
    if isinstance(value, str) and len(value) <= _ID_SIZE and _is_plain(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if abs(value) < 10**40 else ""
    found = _UNSTORABLE.sub("\ufffd", text(value))
    if len(found) <= _ID_SIZE:
        return found
    return f"{found[: _ID_SIZE - 33]}~{digest(found)}"


def digest(material: str) -> str:
    """Return 32 hexadecimal characters that stand for a text."""
    raw = material.encode("utf-8", "surrogatepass")
    return hashlib.sha256(raw).hexdigest()[:32]


def count(value: object) -> int | None:
    """Return a number of things when it is one that a database can hold."""
    if isinstance(value, float) and math.isfinite(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _COUNT_LIMIT else None


def total(*values: object) -> int | None:
    """Add the numbers that are there; None when none is."""
    found = [number for number in map(count, values) if number is not None]
    return count(sum(found)) if found else None


def instant(value: object) -> datetime | None:
    """Read epoch seconds, epoch milliseconds or ISO 8601 (naive counts as UTC)."""
    if isinstance(value, str):
        return _iso_instant(value)
    if isinstance(value, bool) or not isinstance(value, _NUMBERS):
        return None
    try:
        seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else float(value)
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _iso_instant(value: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value[:64])
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return aware.astimezone(UTC)
    except (OverflowError, ValueError):
        return None
