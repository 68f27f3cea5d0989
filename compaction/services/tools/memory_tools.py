"""The agent's memory, written and read by itself."""

from __future__ import annotations

from collections.abc import Mapping

from compaction.engine.tools import ToolMistake
from compaction.models import Conversation
from compaction.services.memory import (
    ITEMS,
    TEXT_CHARS,
    MemoryFault,
    MemoryRefused,
    add_memory,
)
from compaction.store.memory import memories_in_force

_MISTAKES: Mapping[MemoryFault, str] = {
    MemoryFault.BLANK: "There is nothing to remember in an empty text.",
    MemoryFault.TOO_LONG: f"A memory has at most {TEXT_CHARS:,} characters.",
    MemoryFault.TOO_MANY: f"There are {ITEMS} memories already, the most there can be.",
    MemoryFault.BUSY: "Others are writing memories at this moment; try again.",
}


def memory_write(conversation: Conversation, *, text: str) -> str:
    """Remember a text."""
    try:
        row = add_memory(conversation, text)
    except MemoryRefused as refused:
        raise ToolMistake(_MISTAKES.get(refused.code, refused.code.value)) from None
    return f"Remembered as number {row.item}."


def memory_read(conversation: Conversation) -> str:
    """Return all that is remembered."""
    rows = memories_in_force(conversation)
    return "\n".join(f"{row.item}. {row.text}" for row in rows) or "Nothing yet."
