"""All evidence of a list of messages: the one entry of the extraction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from compaction.engine.evidence.extract_commands import extract_commands, extract_tools
from compaction.engine.evidence.extract_errors import extract_errors
from compaction.engine.evidence.extract_files import extract_files, same_files
from compaction.engine.evidence.extract_identifiers import extract_identifiers
from compaction.engine.evidence.extract_questions import extract_questions, is_answer
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
from compaction.engine.messages import Kind, Message

Extractor = Callable[[Sequence[Turn]], Iterator[EvidenceItem]]

EXTRACTORS: tuple[Extractor, ...] = (
    extract_requests,
    extract_constraints,
    extract_todos,
    extract_questions,
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

    Items are in the order of their messages, each with its status. What a summary
    carried stands where it stands among the messages, or before them all.
    """
    turns = read_turns(messages)
    found = [item for extract in EXTRACTORS for item in extract(turns)]
    carried_at = _place_of_summary(messages)
    known = _answered(carried, [t for t in turns if t.position >= carried_at])
    if any(item.kind is EvidenceKind.GOAL for item in known):
        if _asked_before(turns, carried_at):
            known = [_no_goal(item) for item in known]
        else:
            found = [_after_the_goal(item, turns) for item in found]
    return settle(_one_name_each([*known, *found]), carried_at=carried_at)


def _place_of_summary(messages: Sequence[Message]) -> int:
    """Return the position of the newest summary among the messages, 0 if none."""
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if message.kind is Kind.SUMMARY or message.carried_summary:
            return position
    return 0


def _asked_before(turns: Sequence[Turn], position: int) -> bool:
    """True when the messages still hold a request that is older than the summary."""
    return any(t.position < position and len(t.told) > 0 for t in spoken_by_user(turns))


def _no_goal(item: EvidenceItem) -> EvidenceItem:
    """Turn what a summary of later messages took for the goal into one more request."""
    if item.kind is not EvidenceKind.GOAL:
        return item
    return item.evolve(
        kind=EvidenceKind.REQUEST,
        weight=WEIGHTS[EvidenceKind.REQUEST],
        status=EvidenceStatus.RESOLVED,
    )


def _one_name_each(items: Sequence[EvidenceItem]) -> list[EvidenceItem]:
    """Give a file one name, whether a summary or a message tells of it."""
    names = same_files(i.key for i in items if i.kind is EvidenceKind.FILE)
    return [
        item.evolve(key=names[item.key], text=names[item.key])
        if item.kind is EvidenceKind.FILE
        else item
        for item in items
    ]


def _answered(
    carried: Iterable[EvidenceItem], turns: Sequence[Turn]
) -> list[EvidenceItem]:
    """Tell how the open requests and questions of the part before were answered."""
    asked = spoken_by_user(turns)
    answer = answer_before(turns, asked[0].position) if asked else ""
    return [_answer(item, turns, answer, is_newest=not asked) for item in carried]


def _answer(
    item: EvidenceItem, turns: Sequence[Turn], answer: str, *, is_newest: bool
) -> EvidenceItem:
    if item.kind is EvidenceKind.QUESTION:
        is_over = any(is_answer(turn, item) for turn in turns)
        return item.evolve(status=EvidenceStatus.RESOLVED) if is_over else item
    if not _is_open_request(item):
        return item
    if is_newest:
        return item.evolve(weight=NEWEST_REQUEST)
    return item.evolve(note=answer, status=EvidenceStatus.RESOLVED)


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
