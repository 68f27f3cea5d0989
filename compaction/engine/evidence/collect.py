"""All evidence of a list of messages: the one entry of the extraction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from compaction.engine.evidence.extract_commands import extract_commands, extract_tools
from compaction.engine.evidence.extract_errors import extract_errors
from compaction.engine.evidence.extract_files import extract_files
from compaction.engine.evidence.extract_identifiers import extract_identifiers
from compaction.engine.evidence.extract_requests import (
    NEWEST_REQUEST,
    answer_before,
    extract_requests,
    extract_state,
)
from compaction.engine.evidence.extract_statements import (
    extract_constraints,
    extract_decisions,
    extract_done,
)
from compaction.engine.evidence.extract_todos import extract_todos
from compaction.engine.evidence.extract_values import extract_values
from compaction.engine.evidence.items import (
    WEIGHTS,
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.reading import Turn, read_turns, spoken_by_user
from compaction.engine.evidence.settle import settle
from compaction.engine.messages import Message

Extractor = Callable[[Sequence[Turn]], Iterator[EvidenceItem]]

EXTRACTORS: tuple[Extractor, ...] = (
    extract_requests,
    extract_constraints,
    extract_todos,
    extract_decisions,
    extract_done,
    extract_files,
    extract_commands,
    extract_errors,
    extract_identifiers,
    extract_values,
    extract_state,
    extract_tools,
)


def collect(
    messages: Sequence[Message], *, carried: Iterable[EvidenceItem] = ()
) -> tuple[EvidenceItem, ...]:
    """Return the evidence of messages on top of what a previous summary carried.

    Items are in the order of their messages, each with its status; what an earlier
    summary told stands first.
    """
    turns = read_turns(messages)
    found = [item for extract in EXTRACTORS for item in extract(turns)]
    known = _answered(carried, turns)
    if any(item.kind is EvidenceKind.GOAL for item in known):
        found = [_after_the_goal(item, turns) for item in found]
    return settle([*known, *found])


def _answered(
    carried: Iterable[EvidenceItem], turns: Sequence[Turn]
) -> list[EvidenceItem]:
    """Tell how the newest request of the part before was answered in this one."""
    asked = spoken_by_user(turns)
    if not asked:
        return [
            item.evolve(weight=NEWEST_REQUEST) if _is_open_request(item) else item
            for item in carried
        ]
    answer = answer_before(turns, asked[0].position)
    return [
        item.evolve(note=answer, status=EvidenceStatus.RESOLVED)
        if _is_open_request(item)
        else item
        for item in carried
    ]


def _is_open_request(item: EvidenceItem) -> bool:
    return item.kind is EvidenceKind.REQUEST and item.is_live and not item.note


def _after_the_goal(item: EvidenceItem, turns: Sequence[Turn]) -> EvidenceItem:
    """Turn the first request of this part into one more request: the goal is known."""
    if item.kind is not EvidenceKind.GOAL:
        return item
    is_newest = spoken_by_user(turns)[-1].position == item.position
    return item.evolve(
        kind=EvidenceKind.REQUEST,
        weight=NEWEST_REQUEST if is_newest else WEIGHTS[EvidenceKind.REQUEST],
        status=EvidenceStatus.LIVE if is_newest else EvidenceStatus.RESOLVED,
    )
