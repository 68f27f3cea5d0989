"""Phase 1: which messages are shortened before anything else happens (article 000).

No message is removed here, and none changes its role, ids or place.
"""

from __future__ import annotations

from collections.abc import Sequence

from compaction.engine.messages import Kind, Message, Role
from compaction.engine.outline import digest_of
from compaction.engine.phases.shortening import DUPLICATE, options_of, pruned_message
from compaction.engine.plan import Plan
from compaction.engine.policy import PruneForm


def prune(
    plan: Plan, messages: Sequence[Message]
) -> tuple[tuple[Message, ...], tuple[int, ...]]:
    """Shorten what the plan lets be shortened; returns the list and the positions."""
    options = options_of(plan.policy)
    calls = {call.id: call for m in messages for call in m.tool_calls}
    copies = _duplicates(plan, messages)
    spared = anchors_of(plan, messages)
    out = list(messages)
    for position in range(min(plan.split.prune_before, len(out))):
        message = out[position]
        if position in spared or message.dropped or message.kind is Kind.SUMMARY:
            continue
        if position in copies and not message.pinned:
            out[position] = message.evolve(content=DUPLICATE)
            continue
        call = calls.get(message.tool_call_id or "")
        out[position] = pruned_message(message, call=call, options=options)
    edited = tuple(i for i, m in enumerate(messages) if out[i] is not m)
    return tuple(out), edited


def _duplicates(plan: Plan, messages: Sequence[Message]) -> frozenset[int]:
    """Old results whose very text comes again later (only in the fact form)."""
    if plan.policy.prune_form is not PruneForm.FACT:
        return frozenset()
    seen: set[str] = set()
    copies: set[int] = set()
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if not message.is_result or len(message.text) <= plan.policy.prune_min_chars:
            continue
        digest = digest_of(message.text)
        if digest in seen:
            copies.add(position)
        seen.add(digest)
    return frozenset(copies)


def anchors_of(plan: Plan, messages: Sequence[Message]) -> frozenset[int]:
    """Positions of the newest user message and reply: they stay word for word."""
    if not plan.policy.anchor_newest:
        return frozenset()
    plain = [
        (position, message)
        for position, message in enumerate(messages)
        if message.kind is Kind.PLAIN and not message.dropped
    ]
    users = [p for p, m in plain if m.role is Role.USER]
    replies = [p for p, m in plain if m.role is Role.ASSISTANT and m.has_text]
    return frozenset(users[-1:] + replies[-1:])
