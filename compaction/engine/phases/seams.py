"""Phase 2, last step: cuts between which a summary can speak.

Many providers refuse two user or two assistant messages in a row, or a conversation
that does not open with a user (hermes#1720, hermes#52160). Where the wanted cuts
leave the summary no role, the nearest safe cut that leaves one is taken instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from compaction.engine.messages import Role
from compaction.engine.outline import Outline
from compaction.engine.policy import CompactionPolicy


def fit_roles(
    outline: Outline, policy: CompactionPolicy, *, head_end: int, tail_start: int
) -> tuple[int, int]:
    """Return cuts that leave the summary a role; the wanted ones if none does."""
    if tail_start <= head_end:
        return head_end, tail_start
    for head, tail in _candidates(outline, policy, head_end, tail_start):
        if has_role(outline, head, tail):
            return head, tail
    return head_end, tail_start


def has_role(outline: Outline, head_end: int, tail_start: int) -> bool:
    """True when a summary between the cuts offends no neighbour."""
    before = _spoken_before(outline, head_end)
    after = outline[tail_start].role if tail_start < len(outline) else None
    roles = {Role.USER} if before is None else {Role.USER, Role.ASSISTANT}
    return bool(roles - {before, after}) or _may_carry(outline, tail_start)


def _spoken_before(outline: Outline, head_end: int) -> Role | None:
    if head_end == 0 or outline[head_end - 1].is_system:
        return None
    return outline[head_end - 1].role


def _may_carry(outline: Outline, tail_start: int) -> bool:
    """A message may carry the summary, unless it stays word for word."""
    if tail_start >= len(outline):
        return False
    facts = outline[tail_start]
    anchored = tail_start in (outline.newest_text, outline.newest_user)
    spoken = facts.role in (Role.ASSISTANT, Role.USER)
    return spoken and not facts.pinned and not anchored


def _candidates(
    outline: Outline, policy: CompactionPolicy, head_end: int, tail_start: int
) -> Iterator[tuple[int, int]]:
    """The wanted cuts, a longer tail while it is cheap, a shorter head, any tail."""
    yield head_end, tail_start
    earlier = list(_earlier_cuts(outline, head_end, tail_start))
    cheap = [
        cut
        for cut in earlier
        if outline.tokens_between(cut, tail_start) <= policy.tail_budget
    ]
    yield from ((head_end, cut) for cut in cheap)
    shorter = head_end
    while shorter > 0 and not outline[shorter - 1].is_system:
        shorter = outline.cut_at_or_before(shorter - 1)
        if _holds_newest_user(outline, shorter, head_end):
            break  # it would be kept all the same, and stand beside the summary
        yield shorter, tail_start
    yield from ((head_end, cut) for cut in earlier[len(cheap) :])


_MOST_CUTS = 64  # a role is free a few cuts away, or nowhere


def _earlier_cuts(outline: Outline, head_end: int, tail_start: int) -> Iterator[int]:
    floor = head_end
    if outline.newest_summary is not None:
        floor = max(floor, outline.newest_summary)
    cut = tail_start
    for _ in range(_MOST_CUTS):
        if cut - 1 <= floor:
            return
        cut = outline.cut_at_or_before(cut - 1)
        if cut <= floor:
            return
        yield cut


def _holds_newest_user(outline: Outline, start: int, end: int) -> bool:
    return outline.newest_user is not None and start <= outline.newest_user < end
