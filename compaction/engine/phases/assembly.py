"""Phase 4: head + kept + summary + tail, checked for pairs and for size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.engine.messages import Kind, Message
from compaction.engine.outline import outline_of, recount
from compaction.engine.phases.placement import (
    Parts,
    Placed,
    add_system_note,
    place_summary,
)
from compaction.engine.phases.pruning import anchors_of, prune
from compaction.engine.phases.tool_pairs import Repair, sanitise_pairs
from compaction.engine.plan import Outcome, Plan
from compaction.engine.policy import CompactionPolicy, CountRule, PruneRule
from compaction.engine.tokens import TokenCounter, count_message


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """The new list; `origins[i]` is the position of message i in the input, None
    for a new one. `edited` are input positions whose content was shortened.
    """

    messages: tuple[Message, ...]
    origins: tuple[int | None, ...]
    outcome: Outcome
    tokens_after: int
    edited: tuple[int, ...] = ()
    repairs: tuple[Repair, ...] = ()


def middle_of(plan: Plan, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages that the summary replaces, without the running summary."""
    kept = frozenset(plan.split.kept)
    start, end = plan.split.head_end, plan.split.tail_start
    return tuple(
        [
            message if message.carried_summary is None else _own(message)
            for position, message in enumerate(messages[start:end], start)
            if position not in kept
            and message.kind is not Kind.SUMMARY
            and not message.dropped
        ]
    )


def span_of(plan: Plan, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same with the running summary in its place, for who reads message by message.

    Messages before it are older than what it tells, those behind it newer.
    """
    kept = frozenset(plan.split.kept)
    start, end = plan.split.head_end, plan.split.tail_start
    return tuple(
        message
        for position, message in enumerate(messages[start:end], start)
        if position not in kept and not message.dropped
    )


def _own(message: Message) -> Message:
    """The message without a summary that it carried."""
    return message.evolve(carried_summary=None)


def assemble(
    plan: Plan,
    messages: Sequence[Message],
    summary: str | None,
    counter: TokenCounter,
) -> Assembly:
    """Build the new list; a result that does not shrink enough is discarded."""
    stays = _staying(plan, messages) if summary is not None else range(len(messages))
    # By the default rule the summariser sees the middle whole, so no one would look.
    all_are_seen = plan.policy.prune_rule is not PruneRule.BEFORE_TAIL
    pruned, edited = prune(plan, messages, among=None if all_are_seen else stays)
    left = [(pruned[i], i) for i in stays if not pruned[i].dropped]
    placed: Sequence[Placed] = left
    if summary is not None:
        placed = place_summary(_parts_of(plan, messages, left), summary, plan.policy)
    paired = sanitise_pairs(
        [message for message, _ in placed],
        summarised_ids=_summarised_ids(plan, messages, placed),
        open_ids=_open_ids(messages),
    )
    result = Assembly(
        messages=paired.messages,
        origins=tuple(None if o is None else placed[o][1] for o in paired.origins),
        outcome=Outcome.PRUNED if summary is None else Outcome.SUMMARISED,
        tokens_after=count_tokens(paired.messages, plan.policy, counter),
        edited=edited,
        repairs=paired.repairs,
    )
    return result if _shrank(plan, result) else _discard(plan, messages)


def _staying(plan: Plan, messages: Sequence[Message]) -> Sequence[int]:
    """Positions of head, kept messages and tail."""
    split = plan.split
    tail = range(max(split.head_end, split.tail_start), len(messages))
    return [*range(split.head_end), *split.kept, *tail]


def staying_of(plan: Plan, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages that stay beside the summary, shortened as the result has them."""
    stays = _staying(plan, messages)
    pruned, _ = prune(plan, messages, among=stays)
    return tuple(
        _own(pruned[i])
        for i in stays
        if not pruned[i].dropped and pruned[i].kind is not Kind.SUMMARY
    )


def _parts_of(
    plan: Plan, messages: Sequence[Message], left: Sequence[tuple[Message, int]]
) -> Parts:
    kept = frozenset(plan.split.kept)
    stays = [(_own(m), place) for m, place in left if m.kind is not Kind.SUMMARY]
    head = [p for p in stays if p[1] < plan.split.head_end]
    if plan.policy.system_note:
        noted = add_system_note([message for message, _ in head])
        head = list(zip(noted, [position for _, position in head], strict=True))
    pinned = frozenset(place for message, place in left if message.pinned)
    return Parts(
        head=tuple(head),
        kept=tuple(p for p in stays if p[1] in kept),
        tail=tuple(p for p in stays if p[1] >= plan.split.tail_start),
        kept_is_older=_kept_is_older(plan, messages, kept),
        verbatim=anchors_of(plan, messages) | pinned,
    )


def _kept_is_older(
    plan: Plan, messages: Sequence[Message], kept: frozenset[int]
) -> bool:
    middle = (
        position
        for position in range(plan.split.head_end, plan.split.tail_start)
        if position not in kept and messages[position].kind is not Kind.SUMMARY
    )
    first = next(middle, plan.split.tail_start)
    return bool(kept) and max(kept) < first


def _summarised_ids(
    plan: Plan, messages: Sequence[Message], placed: Sequence[Placed]
) -> frozenset[str]:
    """Calls that stay while their result went into the summary; usually none."""
    asked = {call_id for message, _ in placed for call_id in message.call_ids}
    missing = asked - {message.tool_call_id for message, _ in placed}
    if not missing:
        return frozenset()
    results = {message.tool_call_id for message in middle_of(plan, messages)}
    return frozenset(missing & results)


def _open_ids(messages: Sequence[Message]) -> frozenset[str]:
    """Calls of the newest group that still wait for a result."""
    position = len(messages) - 1
    answered: set[str] = set()
    while position >= 0 and messages[position].is_result:
        answered.add(messages[position].tool_call_id or "")
        position -= 1
    if position < 0:
        return frozenset()
    return frozenset(messages[position].call_ids) - answered


def count_tokens(
    messages: Sequence[Message], policy: CompactionPolicy, counter: TokenCounter
) -> int:
    """Count a list by the rule of a policy."""
    if policy.count_rule is CountRule.CHARS_OVER_4:
        return recount(outline_of(messages, counter), policy).tokens
    return sum(count_message(message, counter) for message in messages)


def _shrank(plan: Plan, result: Assembly) -> bool:
    """Article 003: the result must fall below `min_shrink` of what was there.

    Without that rule (article 000) only a result larger than its input is refused.
    """
    if plan.policy.min_shrink is None:
        return True
    return result.tokens_after < plan.policy.min_shrink * plan.tokens_before


def _discard(plan: Plan, messages: Sequence[Message]) -> Assembly:
    return Assembly(
        messages=tuple(messages),
        origins=tuple(range(len(messages))),
        outcome=Outcome.STUCK,
        tokens_after=plan.tokens_before,
    )
