"""From an outline to a plan: cut, measure, decide. Numbers in, a value out."""

from __future__ import annotations

from compaction.engine.outline import Outline, recount
from compaction.engine.phases.boundaries import measure, split
from compaction.engine.plan import (
    OpenCalls,
    Plan,
    Situation,
    Sizes,
    Split,
    Verdict,
    Why,
)
from compaction.engine.policy import CompactionPolicy, PruneRule
from compaction.engine.triggers import ERRORS, Trigger, is_due, is_over

SUMMARY_OVERHEAD = 120
"""Tokens of prefix and end marker around a summary (projection only)."""


def plan_outline(
    outline: Outline,
    policy: CompactionPolicy,
    *,
    situation: Situation | None = None,
) -> Plan:
    """Decide what a run would do with a conversation."""
    situation = situation or Situation()
    counted = recount(outline, policy)
    parts = split(counted, policy, situation)
    sizes = measure(counted, parts)
    budget = policy.summary_budget(_summarised_tokens(policy, sizes))
    verdict, reason = _decide(counted, policy, situation, (parts, sizes))
    return Plan(
        policy=policy,
        situation=situation,
        verdict=verdict,
        reason=reason,
        split=parts,
        sizes=sizes,
        summary_budget=budget if verdict is Verdict.SUMMARISE else 0,
        tokens_after=_project(verdict, sizes, budget=budget),
    )


def _summarised_tokens(policy: CompactionPolicy, sizes: Sizes) -> int:
    """Tokens of what the summariser is shown: the articles shorten before."""
    before = policy.prune_rule is PruneRule.BEFORE_TAIL
    return sizes.middle if before else sizes.middle - sizes.middle_saved


def _decide(
    outline: Outline,
    policy: CompactionPolicy,
    situation: Situation,
    cut: tuple[Split, Sizes],
) -> tuple[Verdict, Why]:
    parts, sizes = cut
    early = _decide_early(outline, policy, situation)
    if early is not None:
        return early
    if _middle_is_empty(outline, parts, sizes):
        return _decide_without_middle(policy, situation, sizes)
    if _pruning_is_enough(policy, situation, sizes):
        return Verdict.PRUNE, Why.PRUNING_IS_ENOUGH
    if not _can_shrink(policy, sizes):
        return _prune_or_stuck(policy, sizes)
    return Verdict.SUMMARISE, _why_due(situation, sizes, policy)


def _decide_early(
    outline: Outline, policy: CompactionPolicy, situation: Situation
) -> tuple[Verdict, Why] | None:
    if not len(outline):
        return Verdict.NOOP, Why.EMPTY
    request = outline.tokens + situation.fixed_tokens
    if not is_due(request, len(outline), situation.trigger, policy):
        gate = is_over(request, policy)
        return Verdict.NOOP, Why.MESSAGE_GATE if gate else Why.BELOW_THRESHOLD
    waits = situation.open_calls is OpenCalls.WAIT
    if waits and outline.open_call_at_end() is not None:
        return Verdict.DEFERRED, Why.OPEN_CALL
    return None


def _middle_is_empty(outline: Outline, parts: Split, sizes: Sizes) -> bool:
    """True when nothing but the running summary lies between the cuts."""
    if sizes.middle_count > 1:
        return False
    summary = outline.newest_summary
    inside = summary is not None and parts.head_end <= summary < parts.tail_start
    return sizes.middle_count - inside <= 0


def _decide_without_middle(
    policy: CompactionPolicy, situation: Situation, sizes: Sizes
) -> tuple[Verdict, Why]:
    over = is_over(sizes.total + situation.fixed_tokens, policy)
    if over or situation.trigger in ERRORS:
        return _prune_or_stuck(policy, sizes)
    if _shrinks(policy, sizes.total - sizes.all_saved, sizes.total):
        return Verdict.PRUNE, Why.ONLY_PRUNING_HELPS
    return Verdict.NOOP, Why.NOTHING_TO_COMPACT


def _prune_or_stuck(policy: CompactionPolicy, sizes: Sizes) -> tuple[Verdict, Why]:
    if _shrinks(policy, sizes.total - sizes.all_saved, sizes.total):
        return Verdict.PRUNE, Why.ONLY_PRUNING_HELPS
    return Verdict.STUCK, Why.PROTECTED_PARTS_TOO_LARGE


def _shrinks(policy: CompactionPolicy, after: int, before: int) -> bool:
    return after < before * (policy.min_shrink or 1.0)


def _pruning_is_enough(
    policy: CompactionPolicy, situation: Situation, sizes: Sizes
) -> bool:
    """A summary costs: it waits while shortening alone frees enough."""
    if policy.prune_enough is None or situation.trigger is Trigger.MANUAL:
        return False
    after = sizes.total - sizes.all_saved
    target = policy.prune_enough * policy.threshold_tokens
    return after + situation.fixed_tokens < target and _shrinks(
        policy, after, sizes.total
    )


def _can_shrink(policy: CompactionPolicy, sizes: Sizes) -> bool:
    """Early exit: what stays is already too large, whatever the summary says."""
    if policy.min_shrink is None:
        return True
    stays = sizes.head + sizes.kept + sizes.tail - sizes.stays_saved
    return stays + SUMMARY_OVERHEAD < policy.min_shrink * sizes.total


def _why_due(situation: Situation, sizes: Sizes, policy: CompactionPolicy) -> Why:
    if situation.trigger in ERRORS:
        return Why.PROVIDER_REFUSED
    over = is_over(sizes.total + situation.fixed_tokens, policy)
    return Why.OVER_THRESHOLD if over else Why.REQUESTED


def _project(verdict: Verdict, sizes: Sizes, *, budget: int) -> int:
    if verdict is Verdict.PRUNE:
        return sizes.total - sizes.all_saved
    if verdict is not Verdict.SUMMARISE:
        return sizes.total
    stays = sizes.head + sizes.kept + sizes.tail - sizes.stays_saved
    return stays + min(budget, max(sizes.middle, 1)) + SUMMARY_OVERHEAD
