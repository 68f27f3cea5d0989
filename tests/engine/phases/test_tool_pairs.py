"""Orphans are dropped, stubbed or left, and every repair is reported."""

from __future__ import annotations

from compaction.engine.messages import Kind
from compaction.engine.phases.tool_pairs import (
    LOST_TEXT,
    STUB_TEXT,
    RepairKind,
    sanitise_pairs,
)
from tests.engine.builders import assistant, group, result, user


def kinds(paired):
    return [repair.kind for repair in paired.repairs]


def test_a_sound_list_stays_as_it_is():
    messages = [user(), *group("a"), assistant("done")]

    paired = sanitise_pairs(messages)

    assert list(paired.messages) == messages
    assert paired.origins == (0, 1, 2, 3)
    assert paired.repairs == ()


def test_a_result_without_a_call_goes():
    paired = sanitise_pairs([user(), result("nobody"), assistant()])

    assert paired.origins == (0, 2)
    assert kinds(paired) == [RepairKind.RESULT_DROPPED]
    assert paired.repairs[0].call_id == "nobody"


def test_a_call_of_the_past_is_answered_by_a_stub():
    paired = sanitise_pairs(
        [assistant("", calls=["a", "b"]), result("a"), user()],
        summarised_ids=frozenset({"b"}),
    )

    assert [m.text for m in paired.messages[1:3]] == ["ok", STUB_TEXT]
    assert paired.messages[2].kind is Kind.STUB
    assert kinds(paired) == [RepairKind.CALL_STUBBED]


def test_a_result_that_was_never_recorded_is_not_claimed_to_be_in_the_summary():
    paired = sanitise_pairs([assistant("", calls=["a"]), user()])

    assert paired.messages[1].text == LOST_TEXT


def test_an_open_call_is_never_answered_for_the_agent():
    """hermes#79278: twelve snapshots were made from one order."""
    messages = [user(), assistant("", calls=["a", "b"]), result("a")]

    paired = sanitise_pairs(messages, open_ids=frozenset({"b"}))

    assert list(paired.messages) == messages


def test_a_late_result_moves_behind_its_call():
    messages = [assistant("", calls=["a"]), user("wait"), result("a")]

    paired = sanitise_pairs(messages)

    assert paired.origins == (0, 2, 1)
    assert kinds(paired) == [RepairKind.RESULT_MOVED]


def test_reused_ids_are_matched_nearest_first():
    messages = [*group("same", "one"), user(), *group("same", "two")]

    assert list(sanitise_pairs(messages).messages) == messages


def test_nothing_is_fine():
    assert sanitise_pairs([]).messages == ()
