"""The memory of a conversation: which versions are in force."""

from __future__ import annotations

from compaction.engine.memory import render_memory
from compaction.engine.tokens import TokenCounter
from compaction.models import Conversation, MemoryItem


def newest_memories(conversation: Conversation) -> list[MemoryItem]:
    """Return the newest version of every memory, oldest memory first; removed too."""
    rows = MemoryItem.objects.filter(conversation=conversation).select_related("author")
    newest = {row.item: row for row in rows.order_by("item", "version")}
    return list(newest.values())


def memories_in_force(conversation: Conversation) -> list[MemoryItem]:
    """Return what the agent is told, oldest first."""
    return [row for row in newest_memories(conversation) if not row.removed]


def newest_memory(conversation: Conversation, item: int) -> MemoryItem | None:
    """Return the newest version of one memory, None when there is no such."""
    rows = MemoryItem.objects.filter(conversation=conversation, item=item)
    return rows.order_by("-version").first()


def memory_history(conversation: Conversation, item: int) -> list[MemoryItem]:
    """Return every version of one memory, newest first."""
    rows = MemoryItem.objects.filter(conversation=conversation, item=item)
    return list(rows.select_related("author").order_by("-version"))


def rendered_memory(conversation: Conversation, counter: TokenCounter) -> str:
    """Return what the system prompt says of the memory, '' without any."""
    texts = [row.text for row in memories_in_force(conversation)]
    return render_memory(texts, counter)
