"""Cooldowns of a conversation."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from compaction.models import Cooldown, OperatorAction
from compaction.services.cooldowns import (
    active_cooldown,
    clear_cooldown,
    count_failures,
    end_cooldowns,
    start_cooldown,
)
from tests.conversations import store_session


@pytest.fixture
def conversation(db):
    return store_session().conversation


def later(seconds):
    return time_machine.travel(timezone.now() + timedelta(seconds=seconds))


def test_without_a_failure_there_is_no_cooldown(conversation):
    assert active_cooldown(conversation) is None
    assert count_failures(conversation) == 0


def test_a_cooldown_is_on_until_its_end(conversation):
    start_cooldown(conversation, seconds=60, reason="server_error")

    with later(59):
        assert active_cooldown(conversation).reason == "server_error"
    with later(61):
        assert active_cooldown(conversation) is None


def test_failures_in_a_row_are_counted_beyond_the_end_of_a_cooldown(conversation):
    start_cooldown(conversation, seconds=60, reason="server_error")
    with later(100):
        second = start_cooldown(conversation, seconds=300, reason="timeout")

        assert second.failures == 2
        assert count_failures(conversation) == 2


def test_a_success_begins_the_ladder_anew(conversation):
    start_cooldown(conversation, seconds=60, reason="server_error")
    end_cooldowns(conversation, why="success")

    assert active_cooldown(conversation) is None
    assert start_cooldown(conversation, seconds=60, reason="timeout").failures == 1


def test_a_cooldown_does_not_reach_another_conversation(conversation):
    start_cooldown(conversation, seconds=60, reason="server_error")

    other = store_session().conversation
    assert active_cooldown(other) is None
    assert count_failures(other) == 0


def test_an_operator_clears_a_cooldown_and_it_is_recorded(conversation, operator):
    start_cooldown(conversation, seconds=60, reason="rate_limit")

    assert clear_cooldown(conversation, operator, reason="new key")

    assert active_cooldown(conversation) is None
    row = Cooldown.objects.get()
    assert row.cleared_at is not None
    assert row.cleared_why == "operator"
    action = OperatorAction.objects.get()
    assert (action.verb, action.reason) == ("clear_cooldown", "new key")
    assert action.before["reason"] == "rate_limit"


def test_clearing_what_is_not_on_changes_and_records_nothing(conversation, operator):
    assert not clear_cooldown(conversation, operator)
    assert not OperatorAction.objects.exists()
