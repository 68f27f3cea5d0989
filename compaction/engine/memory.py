"""Memory: what an agent keeps beside its messages, told to it with every call."""

from __future__ import annotations

from collections.abc import Sequence

from compaction.engine.tokens import TokenCounter

HEADING = "# Memory (kept across compactions)"
MEMORY_TOKENS = 2_000
"""Most tokens that rendered memory may take of every request."""
_LEFT_OUT = "(older memories are left out here; memory_read returns them all)"


def render_memory(
    texts: Sequence[str], counter: TokenCounter, *, budget: int = MEMORY_TOKENS
) -> str:
    """Write memories, oldest first, as part of a system prompt; '' without any.

    Within `budget` tokens: the newest ones win, and it says that some are left out.
    """
    left = budget - counter.count(f"{HEADING}\n{_LEFT_OUT}")
    lines: list[str] = []
    for text in reversed(texts):
        line = f"- {' '.join(text.split())}"
        left -= counter.count(line) + 1
        if left < 0:
            break
        lines.append(line)
    if not texts:
        return ""
    gap = [_LEFT_OUT] if len(lines) < len(texts) else []
    return "\n".join([HEADING, *gap, *reversed(lines)])
