"""What a model is told before it summarises: a transcript, and the evidence beside it.

Hermes prunes first, so that no error text and no identifier of an old output reaches
its summariser (28 % of planted facts did, measured). Here every message is read whole
by rules, and what the transcript shortens away is listed word for word.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    write_transcript,
)
from compaction.engine.plan import Plan

_EVIDENCE_SHARE = 1 / 3
"""Of one request's room, for evidence."""


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
    listed = list_evidence(
        untold(evidence, Telling(write_transcript(pruned, limits))),
        chars=room.spare,
    )
    spare = room.spare - len(write_list(listed))
    shown = fit(middle, pruned, limits, spare=spare)
    budget = transcript_budget(plan, shown, previous=previous_of(plan))
    for_evidence = int(budget * _EVIDENCE_SHARE)
    chunks = write_chunks(shown, limits, budget=budget - for_evidence)
    lists = [_evidence_of(chunk, listed, for_evidence) for chunk in chunks]
    return frame_prompt(plan, middle, [chunk.text for chunk in chunks], lists)


def _evidence_of(chunk: Chunk, listed: Sequence[EvidenceItem], chars: int) -> str:
    here = [item for item in listed if chunk.start <= item.position < chunk.end]
    left = untold(here, Telling(chunk.text))
    return write_list(list_evidence(left, chars=chars))
