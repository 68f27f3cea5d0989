"""The chain of what operators did."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from compaction.models import AuditHead, OperatorAction
from compaction.services.audit import Change, record_action, seal_of, verify_chain
from tests.conversations import store_session


@pytest.fixture
def three_acts(operator):
    session = store_session()
    return [
        record_action(operator, "compact", session),
        record_action(
            operator,
            "set_policy",
            session.conversation,
            change=Change(
                reason="too early",
                before={"threshold_ratio": 0.5, "cap": None, "tail": 1.0},
                after={"threshold_ratio": 0.75, "notes": ["摘要", "a\x00b", "\ud800"]},
            ),
        ),
        record_action(None, "repair", change=Change(target="demo")),
    ]


def test_an_untouched_chain_is_whole(three_acts):
    assert verify_chain().is_whole
    assert verify_chain().rows == 3


def test_an_empty_chain_is_whole(db):
    assert verify_chain().is_whole


def test_an_act_says_who_did_what_to_what(three_acts, operator):
    first, second, third = three_acts

    assert (first.operator_name, first.verb) == ("olaf", "compact")
    assert first.target == first.session.pk
    assert second.target == f"conversation:{second.conversation.pk}"
    assert (third.operator_name, third.target) == ("system", "demo")


@pytest.mark.parametrize(
    "changed",
    [
        {"verb": "clear_cooldown"},
        {"operator_name": "somebody"},
        {"reason": "another"},
        {"after": {"threshold_ratio": 0.9}},
        {"before": None},
        {"target": "elsewhere"},
        {"previous_seal": "0" * 64},
    ],
)
def test_a_changed_row_breaks_the_chain_there(three_acts, changed):
    OperatorAction.objects.filter(pk=three_acts[1].pk).update(**changed)

    found = verify_chain()
    assert not found.is_whole
    assert found.broken_at == three_acts[1].pk


def test_a_row_taken_out_of_the_middle_breaks_the_chain(three_acts):
    three_acts[1].delete()

    assert verify_chain().broken_at == three_acts[2].pk


def test_rows_cut_off_at_the_end_are_missed(three_acts):
    three_acts[2].delete()

    assert verify_chain().missing == 1


def test_a_row_slipped_in_at_the_end_is_found(three_acts):
    last = three_acts[2]
    last.pk, last._state.adding = None, True
    last.save()

    assert verify_chain().broken_at == last.pk


def test_a_row_that_went_around_the_recorder_is_found(three_acts):
    row = OperatorAction(
        at=three_acts[2].at,
        operator_name="x",
        verb="y",
        previous_seal=three_acts[2].seal,
    )
    row.seal = seal_of(row)
    row.save()

    assert verify_chain().missing == -1
    assert not verify_chain().is_whole


def test_the_chain_outlives_the_person_and_the_conversation(three_acts, operator):
    operator.delete()
    conversation = three_acts[0].conversation
    conversation.tip = None
    conversation.save()
    conversation.delete()

    row = OperatorAction.objects.get(pk=three_acts[0].pk)
    assert row.session_id is None
    assert row.operator_id is None
    assert verify_chain().is_whole


@pytest.mark.django_db(transaction=True)
def test_many_recorders_at_once_make_one_chain():
    def record() -> None:
        try:
            for number in range(5):
                record_action(None, f"act_{number}")
        finally:
            connection.close()

    threads = [threading.Thread(target=record) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert verify_chain().is_whole
    assert verify_chain().rows == 40
    assert AuditHead.objects.get().rows == 40
