"""The memory of a conversation for its page: what stands, what of it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction import wiring
from compaction.engine.memory import MEMORY_TOKENS, render_memory
from compaction.models import Conversation, MemoryItem
from compaction.store.memory import newest_memories


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """One memory; `is_told` when it fits the budget and stands in the prompt."""

    row: MemoryItem
    is_told: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """Newest first; `used` of `budget` tokens are sent with every request."""

    kept: Sequence[Remembered]
    removed: Sequence[MemoryItem]
    rendering: str
    used: int
    budget: int

    @property
    def told(self) -> int:
        """How many memories the agent is told of."""
        return sum(one.is_told for one in self.kept)


def memory_page(conversation: Conversation) -> MemoryPage:
    """Return everything remembered, and what of it the agent is told."""
    rows = newest_memories(conversation)
    in_force = [row for row in rows if not row.removed]
    counter = wiring.get_counter(conversation.model)
    rendering = render_memory([row.text for row in in_force], counter)
    told = sum(line.startswith("- ") for line in rendering.split("\n"))
    first_told = len(in_force) - told
    kept = [
        Remembered(row=row, is_told=index >= first_told)
        for index, row in enumerate(in_force)
    ]
    return MemoryPage(
        kept=tuple(reversed(kept)),
        removed=tuple(row for row in reversed(rows) if row.removed),
        rendering=rendering,
        used=counter.count(rendering) if rendering else 0,
        budget=MEMORY_TOKENS,
    )
