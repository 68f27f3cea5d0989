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
from compaction.engine.policy import CompactionPolicy
from compaction.engine.tokens import TokenCounter


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
    return tuple(
        messages[position].evolve(carried_summary=None)
        for position in range(plan.split.head_end, plan.split.tail_start)
        if position not in kept
        and messages[position].kind is not Kind.SUMMARY
        and not messages[position].dropped
    )


def assemble(
    plan: Plan,
    messages: Sequence[Message],
    summary: str | None,
    counter: TokenCounter,
) -> Assembly:
    """Build the new list; a result that does not shrink enough is discarded."""
    pruned, edited = prune(plan, messages)
    placed: tuple[Placed, ...]
    if summary is None:
        placed = tuple((m, i) for i, m in enumerate(pruned) if not m.dropped)
    else:
        placed = _place(plan, pruned, summary)
    paired = sanitise_pairs(
        [message for message, _ in placed],
        summarised_ids=_ids_of(middle_of(plan, messages)),
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


def _place(plan: Plan, pruned: Sequence[Message], summary: str) -> tuple[Placed, ...]:
    kept = frozenset(plan.split.kept)
    stays = [
        (message.evolve(carried_summary=None), position)
        for position, message in enumerate(pruned)
        if _stays(plan, position, kept)
        and message.kind is not Kind.SUMMARY
        and not message.dropped
    ]
    head = tuple(p for p in stays if p[1] < plan.split.head_end)
    if plan.policy.system_note:
        noted = add_system_note([message for message, _ in head])
        head = tuple(zip(noted, [position for _, position in head], strict=True))
    parts = Parts(
        head=head,
        kept=tuple(p for p in stays if p[1] in kept),
        tail=tuple(p for p in stays if p[1] >= plan.split.tail_start),
        kept_is_older=_kept_is_older(plan, pruned, kept),
        verbatim=anchors_of(plan, pruned) | _pinned(pruned),
    )
    return place_summary(parts, summary, plan.policy)


def _pinned(messages: Sequence[Message]) -> frozenset[int]:
    return frozenset(i for i, message in enumerate(messages) if message.pinned)


def _stays(plan: Plan, position: int, kept: frozenset[int]) -> bool:
    between = plan.split.head_end <= position < plan.split.tail_start
    return not between or position in kept


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


def _ids_of(messages: Sequence[Message]) -> frozenset[str]:
    results = {m.tool_call_id for m in messages if m.tool_call_id}
    return frozenset(results)


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
    return recount(outline_of(messages, counter), policy).tokens


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
