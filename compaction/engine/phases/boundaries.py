"""Phase 2: where head, middle and tail meet.

Every cut of the default rule is a safe cut of the outline, so no strategy here knows
about tool pairs. The articles' two alignments are kept for their presets.
"""

from __future__ import annotations

from compaction.engine.messages import Kind, Role
from compaction.engine.outline import Outline
from compaction.engine.phases.seams import fit_roles
from compaction.engine.plan import Situation, Sizes, Split
from compaction.engine.policy import CompactionPolicy, CutRule, PruneRule
from compaction.engine.triggers import Trigger


def split(outline: Outline, policy: CompactionPolicy, situation: Situation) -> Split:
    """Cut a conversation into head, middle and tail."""
    prune_end = find_prune_end(outline, policy)
    if prune_end is not None:
        outline = outline.shortened(prune_end)
    budget = tail_budget(outline, policy, situation)
    head_end = find_head_end(outline, policy, compactions=situation.compactions)
    wanted = _wanted_tail(outline, policy, head_end=head_end, budget=budget)
    tail_start = _align_tail(outline, policy, wanted=wanted, head_end=head_end)
    tail_start = _hold_anchors(
        outline, policy, head_end=head_end, tail_start=tail_start, budget=budget
    )
    if policy.cut_rule is CutRule.SAFE:
        head_end, tail_start = fit_roles(
            outline, policy, head_end=head_end, tail_start=tail_start
        )
    return Split(
        head_end=head_end,
        tail_start=tail_start,
        kept=_find_kept(outline, policy, head_end=head_end, tail_start=tail_start),
        dropped=tuple(outline.dropped),
        prune_before=wanted if prune_end is None else prune_end,
    )


def tail_budget(
    outline: Outline, policy: CompactionPolicy, situation: Situation
) -> int:
    """Tokens the tail may have.

    A manual run below the threshold measures the ratio against what is there: who
    presses "compact now" on a small conversation wants it smaller, not told that
    all of it fits.
    """
    manual = situation.trigger is Trigger.MANUAL and policy.tail_tokens is None
    if manual and outline.tokens < policy.threshold_tokens:
        return max(1, int(policy.tail_ratio * outline.tokens))
    return policy.tail_budget


def find_head_end(
    outline: Outline, policy: CompactionPolicy, *, compactions: int = 0
) -> int:
    """Position behind the last message of the head (article 000, part 2.1).

    The protection of the first exchange decays after the first compaction, or early
    user turns become immortal and are read as the newest order (hermes#11996).
    """
    protect = policy.protect_first if not compactions else policy.protect_first_after
    system_end = 0
    while system_end < len(outline) and outline[system_end].is_system:
        system_end += 1
    wanted = protect if policy.protect_first_counts_system else system_end + protect
    wanted = min(max(wanted, system_end), len(outline))
    wanted = _stop_at_summary(outline, wanted)
    return _align_head(outline, policy, wanted=wanted, system_end=system_end)


def _stop_at_summary(outline: Outline, wanted: int) -> int:
    """An old summary never becomes part of the head (two summaries were seen)."""
    for position in range(wanted):
        if outline[position].kind is Kind.SUMMARY:
            return position
    return wanted


def _align_head(
    outline: Outline, policy: CompactionPolicy, *, wanted: int, system_end: int
) -> int:
    if policy.cut_rule is not CutRule.SAFE:
        return _skip_results(outline, wanted)
    forward = outline.cut_at_or_after(wanted)
    if outline.tokens_between(system_end, forward) > policy.tail_budget:
        forward = max(outline.cut_at_or_before(wanted), system_end)
        if outline.tokens_between(system_end, forward) > policy.tail_budget:
            forward = system_end
    return _keep_asker_with_answer(outline, forward, system_end=system_end)


def _skip_results(outline: Outline, position: int) -> int:
    while position < len(outline) and outline[position].is_result:
        position += 1
    return position


def _keep_asker_with_answer(outline: Outline, end: int, *, system_end: int) -> int:
    """A later user turn at the edge of the head leaves it: cut off from its reply
    it reads as pending (hermes#22523). The first one stays, it is the task.
    """
    if end - 1 > system_end and outline[end - 1].role is Role.USER:
        return outline.cut_at_or_before(end - 1)
    return end


def _wanted_tail(
    outline: Outline, policy: CompactionPolicy, *, head_end: int, budget: int
) -> int:
    """Walk back while the budget lasts (article 000, part 2.2), as a binary search."""
    wanted = outline.tail_from(int(budget * policy.tail_ceiling))
    if wanted <= head_end:  # all of it fits under the soft ceiling
        wanted = outline.tail_from(budget)
    wanted = min(wanted, _least_tail(outline, policy, budget=budget))
    return max(wanted, head_end)


def _least_tail(outline: Outline, policy: CompactionPolicy, *, budget: int) -> int:
    """Start of the fewest messages a tail has, whatever their size.

    By the default rule one huge message among them is not protected for ever.
    """
    count = len(outline)
    start = max(0, count - policy.min_tail)
    huge = int(2 * policy.tail_ceiling * max(budget, policy.tail_budget))
    if policy.cut_rule is CutRule.SAFE and outline.tokens_between(start, count) > huge:
        return max(0, count - 1)
    return start


def _align_tail(
    outline: Outline, policy: CompactionPolicy, *, wanted: int, head_end: int
) -> int:
    if policy.cut_rule is CutRule.SAFE:
        return _align_safe(outline, policy, wanted=wanted, head_end=head_end)
    position = wanted
    while head_end < position < len(outline) and not _may_start_tail(
        outline, position, policy.cut_rule
    ):
        position -= 1
    return max(position, head_end)


def _may_start_tail(outline: Outline, position: int, rule: CutRule) -> bool:
    """Article 000 keeps a group whole; article 003 snaps to an assistant message."""
    if rule is CutRule.ALIGN_ASSISTANT:
        return outline[position].role is Role.ASSISTANT
    return not outline[position].is_result


def _align_safe(
    outline: Outline, policy: CompactionPolicy, *, wanted: int, head_end: int
) -> int:
    """Prefer keeping more, unless one large group would burst the budget."""
    floor = head_end
    if outline.newest_summary is not None:
        # The running summary is always replaced, never kept beside its successor.
        floor = max(floor, min(outline.newest_summary + 1, len(outline)))
    back = outline.cut_at_or_before(wanted)
    ahead = outline.cut_at_or_after(wanted)
    limit = int(2 * policy.tail_ceiling * policy.tail_budget)
    fits = outline.tokens_between(back, len(outline)) <= limit
    chosen = back if fits or ahead >= len(outline) else ahead
    return max(chosen, outline.cut_at_or_after(floor))


def _hold_anchors(
    outline: Outline,
    policy: CompactionPolicy,
    *,
    head_end: int,
    tail_start: int,
    budget: int,
) -> int:
    """Move the tail back over a near anchor; a far one is kept apart instead."""
    if not policy.anchor_newest:
        return tail_start
    anchors = [outline.newest_user, outline.newest_text]
    near = [a for a in anchors if a is not None and head_end <= a < tail_start]
    floor = -1 if outline.newest_summary is None else outline.newest_summary
    for anchor in sorted(near, reverse=True):
        start = outline.cut_at_or_before(anchor)
        cheap = outline.tokens_between(start, tail_start) <= budget // 2
        if cheap and max(floor + 1, head_end) <= start < tail_start:
            tail_start = start
    return tail_start


def _find_kept(
    outline: Outline, policy: CompactionPolicy, *, head_end: int, tail_start: int
) -> tuple[int, ...]:
    """Positions between the cuts that stay word for word, with their groups."""
    wanted = list(outline.pinned)
    if policy.anchor_newest:
        wanted += _far_anchors(outline, head_end=head_end, tail_start=tail_start)
    kept: set[int] = set()
    for position in wanted:
        if head_end <= position < tail_start:
            kept.update(outline.group_of(position))
    return tuple(p for p in sorted(kept) if outline[p].kind is not Kind.SUMMARY)


def _far_anchors(outline: Outline, *, head_end: int, tail_start: int) -> list[int]:
    anchors = [a for a in (outline.newest_user, outline.newest_text) if a is not None]
    user = outline.newest_user
    if user is None or not head_end < user < tail_start:
        return anchors
    before = outline[user - 1]
    if before.role is Role.ASSISTANT and before.has_text and not before.call_ids:
        anchors.append(user - 1)  # the reply that the newest request answers
    return anchors


def find_prune_end(outline: Outline, policy: CompactionPolicy) -> int | None:
    """Position before which old output is shortened; None: wherever the tail begins.

    The articles shorten before they cut, so their rule does not know the cuts.
    """
    if policy.prune_rule is PruneRule.BY_BUDGET:
        return _before_budget(outline, policy.tail_budget)
    if policy.prune_rule is PruneRule.ALL_BUT_NEWEST:
        return _before_newest_results(outline, policy.prune_keep_newest)
    return None


def _before_budget(outline: Outline, budget: int) -> int:
    """Walk back over contents alone (chars // 4 + 10) until the budget is reached."""
    used = 0
    for position in range(len(outline) - 1, -1, -1):
        used += outline[position].chars // 4 + 10
        if used > budget:
            return position
    return 0


def _before_newest_results(outline: Outline, keep: int) -> int:
    position = len(outline)
    while position > 0 and keep > 0:
        position -= 1
        keep -= outline[position].is_result
    return position


def measure(outline: Outline, parts: Split) -> Sizes:
    """Sum up the parts of a split, in constant time but for the kept messages."""
    count = len(outline)
    kept = sum(outline[p].tokens for p in parts.kept)
    dropped = [p for p in parts.dropped if parts.head_end <= p < parts.tail_start]
    lost = sum(outline[p].tokens for p in dropped if p not in parts.kept)
    middle = outline.tokens_between(parts.head_end, parts.tail_start) - kept - lost
    between = parts.tail_start - parts.head_end - len(parts.kept) - len(dropped)
    end = parts.prune_before
    stop = min(parts.tail_start, max(end, parts.head_end))
    head_stop = min(parts.head_end, end)
    tail_stop = max(parts.tail_start, end)
    stays = (
        outline.saved_between(0, head_stop)
        + outline.saved_between(parts.tail_start, tail_stop)
        + sum(outline[p].saving for p in parts.kept if p < end)
    )
    return Sizes(
        messages=count,
        total=outline.tokens,
        head=outline.tokens_between(0, parts.head_end),
        kept=kept,
        middle=middle,
        tail=outline.tokens_between(parts.tail_start, count),
        middle_count=between,
        middle_saved=outline.saved_between(parts.head_end, stop),
        stays_saved=stays,
        all_saved=outline.saved_between(0, end),
        prunable=outline.prunable_between(0, end),
    )
