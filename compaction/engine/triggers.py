"""Why a run starts, and whether it is due."""

from __future__ import annotations

from enum import StrEnum

from compaction.engine.policy import CompactionPolicy


class Trigger(StrEnum):
    """Why a run started (article 000, part 1; article 003)."""

    PREFLIGHT = "preflight"
    IN_LOOP = "in_loop"
    CONTEXT_OVERFLOW = "context_overflow"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    LONG_CONTEXT_TIER = "long_context_tier"
    MANUAL = "manual"
    IDLE = "idle"


ERRORS = frozenset(
    {Trigger.CONTEXT_OVERFLOW, Trigger.PAYLOAD_TOO_LARGE, Trigger.LONG_CONTEXT_TIER}
)
"""The agent cannot go on without a run."""

UNCONDITIONAL = ERRORS | {Trigger.MANUAL}
"""Triggers that do not ask for a threshold."""


def is_over(tokens: int, policy: CompactionPolicy) -> bool:
    """True when this many tokens reach the policy's threshold."""
    return tokens >= policy.threshold_tokens


def passes_gate(count: int, trigger: Trigger, policy: CompactionPolicy) -> bool:
    """Apply article 000's message count gate, which guards the preflight alone."""
    if policy.message_gate is None or trigger is not Trigger.PREFLIGHT:
        return True
    return count > policy.message_gate


def is_due(tokens: int, count: int, trigger: Trigger, policy: CompactionPolicy) -> bool:
    """True when a run should start: tokens decide, unless somebody must have it."""
    if trigger in UNCONDITIONAL:
        return True
    return is_over(tokens, policy) and passes_gate(count, trigger, policy)
