"""What is posted to change a memory."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import User

from compaction.services.memory import TEXT_CHARS, MemoryEdit

REMOVE = "remove"


def read_memory_edit(post: Mapping[str, str], operator: User) -> MemoryEdit:
    """Read an edit; a number that makes no sense is of no memory."""
    return MemoryEdit(
        item=_number(post.get("item", "")),
        base_version=_number(post.get("base_version", "")),
        text=post.get("text", "").replace("\r\n", "\n")[: 2 * TEXT_CHARS],
        removed=post.get("button") == REMOVE,
        operator=operator,
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
