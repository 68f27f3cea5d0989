"""What a model is told before it summarises: a transcript, and the evidence beside it.

Hermes prunes first, so that no error text and no identifier of an old output reaches
its summariser (28 % of planted facts did, measured). Here every message is read whole
by rules, and what the transcript shortens away is listed word for word.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from compaction.engine.evidence.items import EvidenceItem
from compaction.engine.evidence.listing import list_evidence, untold, write_list
from compaction.engine.evidence.telling import Telling
from compaction.engine.messages import Message
from compaction.engine.phases.fitting import fit, outcomes, room_for
from compaction.engine.phases.prompts import (
    SummaryPrompt,
    frame_prompt,
    previous_of,
    transcript_budget,
)
from compaction.engine.phases.transcript import (
    Chunk,
    limits_of,
    write_chunks,
)
from compaction.engine.plan import Plan

_EVIDENCE_SHARE = 1 / 3
"""Of one request's room, for evidence."""

_position = attrgetter("position")


def write_briefing(
    plan: Plan,
    middle: Sequence[Message],
    pruned: Sequence[Message],
    evidence: Sequence[EvidenceItem],
) -> SummaryPrompt:
    """Write the prompt of a middle with its evidence.

    `pruned` is the same middle with old outputs shortened, message by message; the
    positions of `evidence` are those of the middle.
    """
    limits = limits_of(plan.policy)
    pruned = outcomes(middle, pruned)
    room = room_for(pruned, limits)
    # Each request is read by itself: what another one tells is asked of no text here,
    # and a long middle is not searched whole for every item.
    ordered = sorted(evidence, key=_position)
    parts = write_chunks(pruned, limits, budget=_share_out(plan, pruned).transcript)
    listed = list_evidence(
        [item for part in parts for item in _untold_in(part, ordered)],
        chars=room.spare,
    )
    shown = fit(middle, pruned, limits, spare=room.spare - len(write_list(listed)))
    shares = _share_out(plan, shown)
    chunks = write_chunks(shown, limits, budget=shares.transcript)
    lists = [
        write_list(list_evidence(_untold_in(chunk, listed), chars=shares.evidence))
        for chunk in chunks
    ]
    return frame_prompt(plan, middle, [chunk.text for chunk in chunks], lists)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shares:
    """Characters that transcript and evidence may have in one request."""

    transcript: int
    evidence: int


def _share_out(plan: Plan, shown: Sequence[Message]) -> _Shares:
    budget = transcript_budget(plan, shown, previous=previous_of(plan))
    for_evidence = int(budget * _EVIDENCE_SHARE)
    return _Shares(transcript=budget - for_evidence, evidence=for_evidence)


def _untold_in(chunk: Chunk, items: Sequence[EvidenceItem]) -> tuple[EvidenceItem, ...]:
    """Return those of `items`, ordered, that a chunk holds and its text leaves out."""
    start = bisect_left(items, chunk.start, key=_position)
    end = bisect_left(items, chunk.end, key=_position)
    return tuple(untold(items[start:end], Telling(chunk.text)))
