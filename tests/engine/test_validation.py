"""What a provider would refuse is found, and where."""

from __future__ import annotations

import pytest

from compaction.engine.messages import Kind, ToolCall
from compaction.engine.validation import Fault, validate
from tests.engine.builders import assistant, group, result, system, user


def faults(*messages):
    return [(f.fault, f.position) for f in validate(messages)]


def test_a_sound_conversation_has_no_findings():
    assert faults(system(), user(), *group("a"), assistant(), user()) == []
    assert faults() == []


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([user(), result("x")], (Fault.ORPHAN_RESULT, 1)),
        ([user(), assistant("", calls=["a"]), user()], (Fault.UNANSWERED_CALL, 1)),
        ([user(), assistant("", calls=["a"])], (Fault.OPEN_CALL, 1)),
        ([user(), *group("a"), *group("a")], (Fault.REUSED_CALL_ID, 3)),
        ([user("a"), user("b")], (Fault.ADJACENT_ROLES, 1)),
        ([user(), assistant(" \n")], (Fault.BLANK_MESSAGE, 1)),
        ([assistant(), user()], (Fault.FIRST_NOT_USER, 0)),
        ([assistant()], (Fault.NO_USER, 0)),
        ([user(), system("late")], (Fault.LATE_SYSTEM, 1)),
    ],
)
def test_each_fault_is_found_at_its_place(messages, found):
    assert found in faults(*messages)


def test_a_result_that_comes_late_is_not_adjacent():
    late = [user(), assistant("", calls=["a"]), user("wait"), result("a")]

    assert (Fault.RESULT_NOT_ADJACENT, 3) in faults(*late)


def test_arguments_that_are_no_json_are_found():
    broken = ToolCall(id="c", name="f", arguments='{"a": ')

    assert (Fault.BROKEN_ARGUMENTS, 1) in faults(
        user(), assistant("", calls=[broken]), result("c")
    )


def test_deeply_nested_arguments_are_a_finding_and_no_crash():
    deep = ToolCall(id="c", name="f", arguments="[" * 200_000)

    assert (Fault.BROKEN_ARGUMENTS, 1) in faults(
        user(), assistant("", calls=[deep]), result("c")
    )


def test_two_summaries_are_one_too_many():
    summary = assistant("s").evolve(kind=Kind.SUMMARY)

    assert (Fault.SECOND_SUMMARY, 3) in faults(user(), summary, user(), summary)


def test_findings_come_in_the_order_of_the_messages():
    positions = [f.position for f in validate([assistant(" "), user(), user(), user()])]

    assert positions == sorted(positions)
