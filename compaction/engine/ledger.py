"""The ledger: for every message what happens to it, and by which rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from compaction.engine.messages import Kind
from compaction.engine.outline import MessageFacts, Outline
from compaction.engine.plan import Plan, Verdict


class Region(StrEnum):
    """Which part of the conversation a message is in."""

    HEAD = "head"
    KEPT = "kept"
    MIDDLE = "middle"
    TAIL = "tail"
    DROPPED = "dropped"


class Rule(StrEnum):
    """The rule that decided, as a code for the templates."""

    SYSTEM_PROMPT = "system_prompt"
    PROTECT_FIRST = "protect_first"
    ALIGNED_HEAD = "aligned_head"
    PINNED = "pinned"
    NEWEST_USER = "newest_user"
    NEWEST_REPLY = "newest_reply"
    SAME_GROUP = "same_group"
    BEFORE_NEWEST_USER = "before_newest_user"
    SUMMARISED = "summarised"
    PREVIOUS_SUMMARY = "previous_summary"
    HEAD_DECAYED = "head_decayed"
    STAYS_UNTIL_SUMMARY = "stays_until_summary"
    TAIL_BUDGET = "tail_budget"
    ALIGNED_TAIL = "aligned_tail"
    OPEN_CALL = "open_call"
    DROPPED_BY_OPERATOR = "dropped_by_operator"


class Pruned(StrEnum):
    """Why and how a message is shortened."""

    NO = ""
    OLD_RESULT = "old_result"
    DUPLICATE = "duplicate"
    LONG_ARGUMENTS = "long_arguments"
    OLD_IMAGE = "old_image"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """What happens to the message at `position`; tokens before and after.

    `detail` holds the numbers that a sentence about the rule needs.
    """

    position: int
    region: Region
    rule: Rule
    pruned: Pruned = Pruned.NO
    tokens: int = 0
    tokens_after: int = 0
    detail: Mapping[str, int] = field(default_factory=dict)


def ledger_of(plan: Plan, outline: Outline) -> tuple[LedgerEntry, ...]:
    """The whole ledger, one entry per message, in order."""
    return tuple(_entries(plan, outline, range(len(outline))))


def ledger_between(
    plan: Plan, outline: Outline, start: int, end: int
) -> tuple[LedgerEntry, ...]:
    """The entries of messages start … end-1."""
    return tuple(_entries(plan, outline, range(start, min(end, len(outline)))))


def _entries(plan: Plan, outline: Outline, positions: range) -> Iterator[LedgerEntry]:
    copies = find_duplicates(plan, outline)
    kept = frozenset(plan.split.kept)
    for position in positions:
        yield _entry(plan, outline, position, (kept, copies))


def _entry(
    plan: Plan,
    outline: Outline,
    position: int,
    sets: tuple[frozenset[int], Mapping[int, int]],
) -> LedgerEntry:
    kept, copies = sets
    facts = outline[position]
    region = region_of(plan, position, kept, dropped=facts.dropped)
    pruned = _pruned(plan, outline, position, copies)
    rule, detail = _rule(plan, outline, position, region)
    if position in copies and pruned is Pruned.DUPLICATE:
        detail = {**detail, "same_as": copies[position]}
    return LedgerEntry(
        position=position,
        region=region,
        rule=rule,
        pruned=pruned,
        tokens=facts.tokens,
        tokens_after=_tokens_after(plan, facts, region, pruned),
        detail=detail,
    )


def region_of(
    plan: Plan, position: int, kept: frozenset[int], *, dropped: bool
) -> Region:
    """Which part a position lies in."""
    if dropped:
        return Region.DROPPED
    if position < plan.split.head_end:
        return Region.HEAD
    if position >= plan.split.tail_start:
        return Region.TAIL
    return Region.KEPT if position in kept else Region.MIDDLE


def _tokens_after(
    plan: Plan, facts: MessageFacts, region: Region, pruned: Pruned
) -> int:
    if not plan.changes:
        return facts.tokens
    if region is Region.DROPPED:
        return 0
    if region is Region.MIDDLE and plan.verdict is Verdict.SUMMARISE:
        return 0
    return facts.pruned_tokens if pruned else facts.tokens


def find_duplicates(plan: Plan, outline: Outline) -> dict[int, int]:
    """Old results whose very text comes again later: position -> newest position."""
    newest: dict[str, int] = {}
    copies: dict[int, int] = {}
    for position in range(len(outline) - 1, -1, -1):
        facts = outline[position]
        if not facts.digest or facts.chars <= plan.policy.prune_min_chars:
            continue
        if facts.digest in newest:
            copies[position] = newest[facts.digest]
        else:
            newest[facts.digest] = position
    return copies


def _pruned(
    plan: Plan, outline: Outline, position: int, copies: Mapping[int, int]
) -> Pruned:
    facts = outline[position]
    anchors = (outline.newest_user, outline.newest_text)
    if position >= plan.split.prune_before or not facts.saving or facts.pinned:
        return Pruned.NO
    if position in anchors and not facts.is_result:
        return Pruned.NO
    if not facts.is_result:
        return Pruned.OLD_IMAGE if facts.images else Pruned.LONG_ARGUMENTS
    return Pruned.DUPLICATE if position in copies else Pruned.OLD_RESULT


def _rule(
    plan: Plan, outline: Outline, position: int, region: Region
) -> tuple[Rule, dict[str, int]]:
    if region is Region.DROPPED:
        return Rule.DROPPED_BY_OPERATOR, {}
    if region is Region.HEAD:
        return _head_rule(plan, outline, position)
    if region is Region.KEPT:
        return _kept_rule(outline, position), {}
    if region is Region.TAIL:
        return _tail_rule(plan, outline, position)
    return _middle_rule(plan, outline, position), {}


def _head_rule(
    plan: Plan, outline: Outline, position: int
) -> tuple[Rule, dict[str, int]]:
    if outline[position].is_system:
        return Rule.SYSTEM_PROMPT, {}
    policy = plan.policy
    first = policy.protect_first_after if _is_later(plan) else policy.protect_first
    systems = 0 if policy.protect_first_counts_system else _leading_systems(outline)
    rule = Rule.PROTECT_FIRST if position < first + systems else Rule.ALIGNED_HEAD
    return rule, {"first": first}


def _is_later(plan: Plan) -> bool:
    return plan.situation.compactions > 0


def _leading_systems(outline: Outline) -> int:
    count = 0
    while count < len(outline) and outline[count].is_system:
        count += 1
    return count


def _kept_rule(outline: Outline, position: int) -> Rule:
    if outline[position].pinned:
        return Rule.PINNED
    if position == outline.newest_user:
        return Rule.NEWEST_USER
    if position == outline.newest_text:
        return Rule.NEWEST_REPLY
    user = outline.newest_user
    return Rule.BEFORE_NEWEST_USER if user == position + 1 else Rule.SAME_GROUP


def _middle_rule(plan: Plan, outline: Outline, position: int) -> Rule:
    if outline[position].kind is Kind.SUMMARY:
        return Rule.PREVIOUS_SUMMARY
    if plan.verdict is not Verdict.SUMMARISE:
        return Rule.STAYS_UNTIL_SUMMARY
    policy = plan.policy
    decayed = _is_later(plan) and policy.protect_first_after < policy.protect_first
    first = policy.protect_first + _leading_systems(outline)
    return Rule.HEAD_DECAYED if decayed and position < first else Rule.SUMMARISED


def _tail_rule(
    plan: Plan, outline: Outline, position: int
) -> tuple[Rule, dict[str, int]]:
    detail = {"budget": plan.policy.tail_budget}
    if position == outline.open_call_at_end():
        return Rule.OPEN_CALL, {}
    if position < plan.split.prune_before:
        if position == outline.newest_user:
            return Rule.NEWEST_USER, detail
        if position == outline.newest_text:
            return Rule.NEWEST_REPLY, detail
        return Rule.ALIGNED_TAIL, detail
    return Rule.TAIL_BUDGET, detail


def entry_to_dict(entry: LedgerEntry) -> dict[str, Any]:
    """Write an entry as JSON-safe values, short keys since there are many."""
    return {
        "n": entry.position,
        "region": entry.region.value,
        "rule": entry.rule.value,
        "pruned": entry.pruned.value,
        "tokens": entry.tokens,
        "after": entry.tokens_after,
        "detail": dict(entry.detail),
    }


def entry_from_dict(raw: Mapping[str, Any]) -> LedgerEntry:
    """Read what `entry_to_dict` wrote."""
    return LedgerEntry(
        position=raw["n"],
        region=Region(raw["region"]),
        rule=Rule(raw["rule"]),
        pruned=Pruned(raw["pruned"]),
        tokens=raw["tokens"],
        tokens_after=raw["after"],
        detail=raw["detail"],
    )
