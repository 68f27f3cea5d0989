"""What a provider would refuse in a list of messages, or a reader should know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from compaction.engine.messages import Kind, Message, Role
from compaction.engine.phases.tool_pairs import match_results


class Fault(StrEnum):
    """What is wrong, as a code for the templates."""

    ORPHAN_RESULT = "orphan_result"
    UNANSWERED_CALL = "unanswered_call"
    OPEN_CALL = "open_call"
    RESULT_NOT_ADJACENT = "result_not_adjacent"
    REUSED_CALL_ID = "reused_call_id"
    ADJACENT_ROLES = "adjacent_roles"
    BLANK_MESSAGE = "blank_message"
    FIRST_NOT_USER = "first_not_user"
    NO_USER = "no_user"
    BROKEN_ARGUMENTS = "broken_arguments"
    SECOND_SUMMARY = "second_summary"
    LATE_SYSTEM = "late_system"


ERRORS = frozenset(
    {
        Fault.ORPHAN_RESULT,
        Fault.UNANSWERED_CALL,
        Fault.RESULT_NOT_ADJACENT,
        Fault.NO_USER,
        Fault.SECOND_SUMMARY,
    }
)
"""Faults that make most providers refuse the request; the rest are warnings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault at a position; `detail` names the id or role it is about."""

    fault: Fault
    position: int
    detail: str = ""

    @property
    def is_error(self) -> bool:
        """True when most providers would refuse the request."""
        return self.fault in ERRORS


def validate(messages: Sequence[Message]) -> tuple[Finding, ...]:
    """Return every finding, ordered by position."""
    found = [
        *_check_pairs(messages),
        *_check_roles(messages),
        *_check_content(messages),
        *_check_summaries(messages),
    ]
    return tuple(sorted(found, key=lambda f: (f.position, f.fault)))


def _check_pairs(messages: Sequence[Message]) -> Iterator[Finding]:
    owners = match_results(messages)
    answered = {(owner, messages[i].tool_call_id) for i, owner in owners.items()}
    last_call = _open_group_start(messages)
    seen: set[str] = set()
    for position, message in enumerate(messages):
        if message.is_result:
            yield from _check_result(messages, owners.get(position), position)
        for call_id in message.call_ids:
            if call_id in seen:
                yield _finding(Fault.REUSED_CALL_ID, position, call_id)
            seen.add(call_id)
            if (position, call_id) not in answered:
                is_open = position == last_call
                fault = Fault.OPEN_CALL if is_open else Fault.UNANSWERED_CALL
                yield _finding(fault, position, call_id)


def _open_group_start(messages: Sequence[Message]) -> int:
    position = len(messages) - 1
    while position >= 0 and messages[position].is_result:
        position -= 1
    return position


def _check_result(
    messages: Sequence[Message], owner: int | None, position: int
) -> Iterator[Finding]:
    call_id = messages[position].tool_call_id or ""
    if owner is None:
        yield _finding(Fault.ORPHAN_RESULT, position, call_id)
    elif not all(m.is_result for m in messages[owner + 1 : position]):
        yield _finding(Fault.RESULT_NOT_ADJACENT, position, call_id)


def _check_roles(messages: Sequence[Message]) -> Iterator[Finding]:
    spoken = [(i, m) for i, m in enumerate(messages) if not m.is_system]
    if spoken and spoken[0][1].role is not Role.USER:
        yield _finding(Fault.FIRST_NOT_USER, spoken[0][0], spoken[0][1].role.value)
    if spoken and not any(m.role is Role.USER for _, m in spoken):
        yield _finding(Fault.NO_USER, spoken[0][0])
    for (_, before), (position, message) in pairwise(spoken):
        if before.role is message.role and not message.is_result:
            yield _finding(Fault.ADJACENT_ROLES, position, message.role.value)
    for position, message in enumerate(messages):
        if message.is_system and spoken and position > spoken[0][0]:
            yield _finding(Fault.LATE_SYSTEM, position)


def _check_content(messages: Sequence[Message]) -> Iterator[Finding]:
    for position, message in enumerate(messages):
        silent = not message.tool_calls and not message.carried_summary
        if silent and not message.has_text and not message.is_result:
            yield _finding(Fault.BLANK_MESSAGE, position, message.role.value)
        for call in message.tool_calls:
            if not _is_json(call.arguments):
                yield _finding(Fault.BROKEN_ARGUMENTS, position, call.id)


def _is_json(arguments: str) -> bool:
    if not arguments.strip():
        return True
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return False
    return True


def _check_summaries(messages: Sequence[Message]) -> Iterator[Finding]:
    carriers = [
        position
        for position, message in enumerate(messages)
        if message.kind is Kind.SUMMARY or message.carried_summary
    ]
    for position in carriers[1:]:
        yield _finding(Fault.SECOND_SUMMARY, position)


def _finding(fault: Fault, position: int, detail: str = "") -> Finding:
    return Finding(fault=fault, position=position, detail=detail)
