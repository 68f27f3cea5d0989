"""Numbers in addresses: anybody may write anything there."""

from __future__ import annotations


def read_number(text: str | None, *, default: int) -> int:
    """Read a number that fits a column; anything else is the default."""
    try:
        number = int(text or "")
    except ValueError:
        return default
    return number if 0 <= number < 2**31 else default
