"""Rows to engine values and back; no rule of the product lives here.

What other layers use is gathered here.
"""

from __future__ import annotations

from compaction.store.continuations import Generation, write_generation
from compaction.store.message_rows import NewMessage
from compaction.store.messages import load_messages, load_outline, write_messages
from compaction.store.plans import Planned, plan_session
from compaction.store.situations import fixed_tokens, is_copy, situation_of
from compaction.store.summaries import NewSummary, add_summary, summary_in_force
from compaction.store.texts import readable, storable, title_for_column

__all__ = [
    "Generation",
    "NewMessage",
    "NewSummary",
    "Planned",
    "add_summary",
    "fixed_tokens",
    "is_copy",
    "load_messages",
    "load_outline",
    "plan_session",
    "readable",
    "situation_of",
    "storable",
    "summary_in_force",
    "title_for_column",
    "write_generation",
    "write_messages",
]
