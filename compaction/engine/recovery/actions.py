"""What is done about a failed call: a decision and the budgets that are left.

Every path has a budget of its own, so no loop is endless (article 003, pitfall 8).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from compaction.engine.recovery.backoff import RetryPolicy
from compaction.engine.recovery.failover import LIMITED_SECONDS
from compaction.engine.recovery.reasons import Decision, Reason


class Action(StrEnum):
    """What is done next."""

    RETRY = "retry"
    COMPACT = "compact"
    FAIL_OVER = "fail_over"
    SHRINK_OUTPUT = "shrink_output"
    GIVE_UP = "give_up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a turn has used up: tries of the call at hand, and of the whole turn.

    `shrunk` counts lowered output limits for the call at hand.
    """

    attempts: int = 0
    compactions: int = 0
    failovers: int = 0
    continuations: int = 0
    shrunk: int = 0


SOON = frozenset({Reason.TIMEOUT, Reason.OVERLOADED, Reason.CONNECTION})
"""Repeated, these say that the endpoint is gone: go to another after two tries."""
SOON_AFTER = 2
LIMITED = frozenset({Reason.RATE_LIMIT, Reason.UPSTREAM_RATE_LIMIT, Reason.BILLING})
"""After these the primary is left alone for a while."""


def choose_action(
    decision: Decision, spent: Spent, policy: RetryPolicy, *, endpoints_left: int
) -> Action:
    """Choose what to do; `spent.attempts` counts the failed try as well."""
    if decision.should_shrink_output:
        return Action.SHRINK_OUTPUT if spent.shrunk < 1 else Action.GIVE_UP
    if decision.should_compact:
        over = spent.compactions >= policy.compactions
        return Action.GIVE_UP if over else Action.COMPACT
    may_switch = endpoints_left > 0 and spent.failovers < policy.failovers
    if may_switch and _should_switch(decision, spent, policy):
        return Action.FAIL_OVER
    if decision.retryable and spent.attempts < policy.attempts:
        return Action.RETRY
    return Action.GIVE_UP


def _should_switch(decision: Decision, spent: Spent, policy: RetryPolicy) -> bool:
    """Nothing but another endpoint helps, or waiting has been tried."""
    if decision.should_fallback and not decision.retryable:
        return True
    if decision.reason in SOON and spent.attempts >= SOON_AFTER:
        return True
    return decision.retryable and spent.attempts >= policy.attempts


def limited_for(decision: Decision) -> float:
    """Seconds for which the endpoint is left alone after a failover."""
    if decision.reason not in LIMITED:
        return 0.0
    return max(LIMITED_SECONDS, decision.retry_after or 0.0)
