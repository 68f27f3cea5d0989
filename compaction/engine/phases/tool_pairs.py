"""Phase 5: no result without its call, no call of the past without a result.

Safe cuts leave nothing to repair in a sound conversation; what is repaired here was
broken in the input already, and every repair is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from compaction.engine.messages import Kind, Message, Role

STUB_TEXT = "[Result from earlier conversation - see context summary above]"
LOST_TEXT = "[No result of this call was recorded]"


class RepairKind(StrEnum):
    """What was done about an orphan."""

    RESULT_DROPPED = "result_dropped"
    CALL_STUBBED = "call_stubbed"
    RESULT_MOVED = "result_moved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One repair: the index in the list before it, and the id of the call."""

    kind: RepairKind
    index: int
    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """A list with sound pairs; `origins` are indices into the list before."""

    messages: tuple[Message, ...]
    origins: tuple[int | None, ...]
    repairs: tuple[Repair, ...]


def sanitise_pairs(
    messages: Sequence[Message],
    *,
    summarised_ids: frozenset[str] = frozenset(),
    open_ids: frozenset[str] = frozenset(),
) -> Paired:
    """Drop orphan results, answer calls that lost theirs (article 000, phase 5), and
    put results that came late directly behind their call, where providers want them.

    `summarised_ids` are the calls whose results went into the summary; `open_ids`
    are still running and stay unanswered, or the agent would do them again
    (hermes#79278).
    """
    results = _results_by_call(messages)
    owned = {index for indices in results.values() for index in indices}
    writer = _Writer(messages)
    for index, message in enumerate(messages):
        if message.is_result:
            if index not in owned:
                writer.repair(RepairKind.RESULT_DROPPED, index, message.tool_call_id)
            continue
        writer.keep(index)
        answers = results.get(index, ())
        for place, answer in enumerate(answers, 1):
            writer.keep(answer)
            if answer != index + place:
                call_id = messages[answer].tool_call_id
                writer.repair(RepairKind.RESULT_MOVED, answer, call_id)
        answered = {messages[answer].tool_call_id for answer in answers}
        for call_id in message.call_ids:
            if call_id not in answered and call_id not in open_ids:
                writer.add(_stub(call_id, summarised_ids))
                writer.repair(RepairKind.CALL_STUBBED, index, call_id)
    return writer.paired()


class _Writer:
    """Collects the sound list and what was repaired on the way."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._source = messages
        self._messages: list[Message] = []
        self._origins: list[int | None] = []
        self._repairs: list[Repair] = []

    def keep(self, index: int) -> None:
        self._messages.append(self._source[index])
        self._origins.append(index)

    def add(self, message: Message) -> None:
        self._messages.append(message)
        self._origins.append(None)

    def repair(self, kind: RepairKind, index: int, call_id: str | None) -> None:
        self._repairs.append(Repair(kind=kind, index=index, call_id=call_id or ""))

    def paired(self) -> Paired:
        return Paired(
            messages=tuple(self._messages),
            origins=tuple(self._origins),
            repairs=tuple(self._repairs),
        )


def _results_by_call(messages: Sequence[Message]) -> dict[int, list[int]]:
    """Every call's message with the results that answer it, in their order."""
    grouped: dict[int, list[int]] = {}
    for result, owner in sorted(match_results(messages).items()):
        grouped.setdefault(owner, []).append(result)
    return grouped


def match_results(messages: Sequence[Message]) -> Mapping[int, int]:
    """Map every result to the message whose call it answers, nearest first."""
    waiting: dict[str, list[int]] = {}
    newest: dict[str, int] = {}
    owners: dict[int, int] = {}
    for index, message in enumerate(messages):
        if message.is_result:
            owner = _take(waiting, newest, message.tool_call_id or "")
            if owner is not None:
                owners[index] = owner
        for call_id in message.call_ids:
            waiting.setdefault(call_id, []).append(index)
            newest[call_id] = index
    return owners


def _take(
    waiting: dict[str, list[int]], newest: Mapping[str, int], call_id: str
) -> int | None:
    stack = waiting.get(call_id)
    return stack.pop() if stack else newest.get(call_id)


def _stub(call_id: str, summarised_ids: frozenset[str]) -> Message:
    text = STUB_TEXT if call_id in summarised_ids else LOST_TEXT
    return Message(role=Role.TOOL, content=text, tool_call_id=call_id, kind=Kind.STUB)
