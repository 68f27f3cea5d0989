"""Who counts tokens."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from compaction.adapters.tiktoken_counter import token_counter_for
from compaction.engine.tokens import TokenCounter


def get_counter(model: str) -> TokenCounter:
    """Return the best counter of tokens for a model, by the name it has in logs."""
    return token_counter_for(model, cache_dir=Path(settings.TIKTOKEN_CACHE_DIR))
