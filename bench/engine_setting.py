"""What both sides of the engine's rows agree on: windows, policy, counter, numbers.

A message is measured once, when it is written: its numbers stand beside it in the
database. Rows that say "stored numbers" begin there, as every page and every run does.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.inputs import Conversation
from compaction.engine.outline import MessageFacts, outline_of
from compaction.engine.plan import Situation
from compaction.engine.policy import CompactionPolicy
from compaction.engine.tokens import RoughCounter

WINDOW = 200_000
"""Context length of the agent in tokens, on both sides."""

SUMMARISER_WINDOW = 128_000
"""Context length of the summariser in tokens: the console's own default."""

POLICY = CompactionPolicy(context_length=WINDOW)
SITUATION = Situation(summariser_window=SUMMARISER_WINDOW)
COUNTER = RoughCounter()
"""The peer estimates, so here an estimate counts as well."""

SUMMARY = "## Goal\nA fixed summary."


def stored_numbers(conversation: Conversation) -> Sequence[MessageFacts]:
    """Return the numbers that stand beside the messages."""
    return outline_of(conversation.messages, COUNTER).facts
