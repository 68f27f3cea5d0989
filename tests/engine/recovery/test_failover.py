"""To the next endpoint, and back to the primary at the next turn."""

from __future__ import annotations

import pytest

from compaction.engine.recovery.failover import begin_turn, fail_over, start


def test_it_starts_at_the_primary():
    state = start(["a", "b"])

    assert state.name == "a"
    assert not state.on_fallback


def test_without_endpoints_there_is_nowhere_to_start():
    with pytest.raises(ValueError, match="at least one"):
        start([])


def test_each_failure_goes_one_further_and_then_there_is_none():
    second = fail_over(start(["a", "b", "c"]), 10.0)
    assert second is not None
    third = fail_over(second, 20.0)
    assert third is not None

    assert [second.name, third.name] == ["b", "c"]
    assert fail_over(third, 30.0) is None


def test_the_time_on_fallback_counts_from_the_first_failure():
    second = fail_over(start(["a", "b", "c"]), 10.0)
    assert second is not None
    third = fail_over(second, 20.0)
    assert third is not None

    assert third.since == 10.0


def test_a_turn_on_the_primary_stays_there():
    state = start(["a", "b"])

    assert begin_turn(state, 5.0) is state


def test_the_next_turn_is_back_and_the_time_on_fallback_over():
    second = fail_over(start(["a", "b"]), 10.0)
    assert second is not None

    back = begin_turn(second, 11.0)

    assert (back.name, back.since) == ("a", None)


def test_a_limited_primary_is_left_alone_until_its_time_is_up():
    """hermes#57582: the fallback never returned, or returned into the limit."""
    second = fail_over(start(["a", "b"]), 10.0, limited_for=60.0)
    assert second is not None

    assert begin_turn(second, 69.0).name == "b"
    assert begin_turn(second, 70.0).name == "a"
