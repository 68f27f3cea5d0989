"""What must hold after any compaction, whatever the input (issue: conservation)."""

from __future__ import annotations

from collections.abc import Sequence

from compaction.engine.compactor import Compaction
from compaction.engine.messages import Kind, Message, Role
from compaction.engine.phases.assembly import middle_of
from compaction.engine.phases.tool_pairs import RepairKind
from compaction.engine.plan import Outcome
from compaction.engine.validation import Fault, validate

CHANGED = (Outcome.SUMMARISED, Outcome.PRUNED)


def check_compaction(before: Sequence[Message], done: Compaction) -> None:
    """Assert every invariant of one run."""
    if done.outcome not in CHANGED:
        assert list(done.messages) == list(before)
        return
    check_conservation(before, done)
    check_pairs(before, done)
    check_stays(before, done)
    check_size(done)


def check_conservation(before: Sequence[Message], done: Compaction) -> None:
    """Each message is in the new list, in the transcript, or a stated drop."""
    assert done.assembly is not None
    stays = [origin for origin in done.origins if origin is not None]
    assert len(stays) == len(set(stays))
    dropped = {
        r.call_id for r in done.assembly.repairs if r.kind is RepairKind.RESULT_DROPPED
    }
    middle = list(middle_of(done.plan, before))
    summarised = done.outcome is Outcome.SUMMARISED
    for position, message in enumerate(before):
        if position in stays:
            continue
        running = message.kind is Kind.SUMMARY
        in_transcript = summarised and message.evolve(carried_summary=None) in middle
        orphan = message.is_result and message.tool_call_id in dropped
        assert running or in_transcript or message.dropped or orphan, position


def check_pairs(before: Sequence[Message], done: Compaction) -> None:
    """No orphan result; no unanswered call but one that is still open at the end."""
    faults = {finding.fault for finding in validate(done.messages)}
    assert Fault.ORPHAN_RESULT not in faults
    assert Fault.UNANSWERED_CALL not in faults
    assert Fault.RESULT_NOT_ADJACENT not in faults
    assert Fault.SECOND_SUMMARY not in faults
    if any(m.role is Role.USER and m.kind is Kind.PLAIN for m in before):
        assert Fault.NO_USER not in faults


def check_stays(before: Sequence[Message], done: Compaction) -> None:
    """Head and tail are untouched but for stated edits."""
    assert done.assembly is not None
    edited = set(done.assembly.edited)
    for message, origin in zip(done.messages, done.origins, strict=True):
        if origin is None:
            assert message.kind in (Kind.SUMMARY, Kind.STUB)
            continue
        was = before[origin]
        assert message.role is was.role
        assert message.call_ids == was.call_ids
        assert message.tool_call_id == was.tool_call_id
        if origin not in edited and not (origin == 0 and message.is_system):
            assert message.content == was.content
            assert message.tool_calls == was.tool_calls


def check_size(done: Compaction) -> None:
    """Below `min_shrink`, or the outcome would have been stuck."""
    limit = done.plan.policy.min_shrink
    if limit is not None:
        assert done.tokens_after < limit * done.plan.tokens_before
