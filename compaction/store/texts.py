"""Text and JSON that a database can hold.

A PostgreSQL text holds no NUL and no lone surrogate, SQLite no lone surrogate. Where
exactness matters they travel as JSON escapes (`Message.body`); elsewhere they are
made visible.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from compaction.engine.phases.redaction import redact

_NUL_VISIBLE = "\u2400"  # SYMBOL FOR NULL
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

TITLE_CHARS = 255
"""Longest title that a column holds, in characters."""

_TITLE_READ = 2_000  # characters of a foreign title that are looked at

ID_CHARS = 255
"""Longest id that an id column holds, in characters."""


def readable(text: str) -> str:
    """Return the text with NUL and lone surrogates made visible."""
    if not _UNSTORABLE.search(text):
        return text
    return _UNSTORABLE.sub(_visible, text)


def title_for_column(raw: str) -> str:
    """Return a title as lists and pages show it: one that fits, secrets masked."""
    return readable(redact(raw[:_TITLE_READ]))[:TITLE_CHARS]


def _visible(found: re.Match[str]) -> str:
    char = found.group()
    return _NUL_VISIBLE if char == "\x00" else "\ufffd"


def storable(value: Any) -> Any:
    """Return a JSON value in which every text can be stored."""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, Mapping):
        return {readable(str(key)): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value


def id_for_column(raw: str) -> str:
    """Return an id that fits its column; equal ids stay equal, others differ.

    A hostile log may hold ids of any length and any characters. What pairs calls
    with results must not be cut blindly, so a changed id ends in a digest.
    """
    if len(raw) <= ID_CHARS and not _UNSTORABLE.search(raw):
        return raw
    digest = hashlib.blake2b(raw.encode("utf-8", "surrogatepass"), digest_size=8)
    return f"{readable(raw[:200])}~{digest.hexdigest()}"
