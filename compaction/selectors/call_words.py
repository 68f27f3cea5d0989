"""Stored calls as a person reads them: `read_file(path="a.py")`, secrets masked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import islice

from compaction.engine.phases.redaction import redact

Call = tuple[str, str]
"""The tool's name, and its arguments as they are shown."""


def write_calls(
    stored: Iterable[Sequence[str]], *, most: int, chars: int
) -> tuple[Call, ...]:
    """Write the first `most` of a message's stored calls: id, name, arguments.

    Arguments are shown up to `chars` characters.
    """
    return tuple(
        (call[1], write_arguments(call[2], chars=chars))
        for call in islice(stored, most)
    )


def write_arguments(text: str, *, chars: int) -> str:
    """Write arguments as a call is read: path="a.py", limit=3; else as they came."""
    return redact(_as_named(text)[:chars])


def _as_named(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(value, dict):
        return text
    return ", ".join(
        f"{name}={json.dumps(item, ensure_ascii=False)}" for name, item in value.items()
    )
