"""Ids and titles of the sessions of a lineage (article 000, persistence)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

MAX_TITLE = 100
_NUMBER = re.compile(r"^(?P<base>.*\S)\s+#(?P<number>\d{1,6})$", re.DOTALL)


def new_session_id(now: datetime, entropy: str) -> str:
    """Return `YYYYMMDD_HHMMSS_<6 hex>`; `entropy` gives the hex digits."""
    if not re.fullmatch(r"[0-9a-f]{6,}", entropy):
        raise ValueError("entropy must be at least six hex digits")
    return f"{now:%Y%m%d_%H%M%S}_{entropy[:6]}"


def base_title(title: str) -> str:
    """The title without its number: `Fix login bug #2` is `Fix login bug`."""
    match = _NUMBER.match(title.strip())
    return match["base"] if match else title.strip()


def title_number(title: str) -> int:
    """The number of a title, 1 when it has none."""
    match = _NUMBER.match(title.strip())
    return int(match["number"]) if match else 1


def next_title(title: str, taken: Iterable[str] = ()) -> str:
    """The title of the next session: one above the highest number in the lineage."""
    base = base_title(title)
    if not base:
        return ""
    numbers = [title_number(t) for t in (title, *taken) if base_title(t) == base]
    suffix = f" #{max(numbers) + 1}"
    return f"{base[: MAX_TITLE - len(suffix)].rstrip()}{suffix}"
