"""Waits grow, end, and never fall into step."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from compaction.engine.recovery.backoff import (
    MAX_RETRY_AFTER,
    RetryPolicy,
    backoff,
    wait_before,
)

POLICY = RetryPolicy(base_delay=5.0, max_delay=120.0)


def none(low: float, high: float) -> float:
    return low


def all_of_it(low: float, high: float) -> float:
    return high


def test_the_articles_waits_are_5_10_20_seconds():
    assert [backoff(n, POLICY, none) for n in (1, 2, 3)] == [5, 10, 20]


def test_jitter_adds_at_most_half():
    assert [backoff(n, POLICY, all_of_it) for n in (1, 2, 3)] == [7.5, 15, 30]


@given(st.integers(1, 10_000), st.integers(0, 2**32))
def test_a_wait_lies_within_its_bounds(attempt, seed):
    wait = backoff(attempt, POLICY, random.Random(seed).uniform)

    assert 5 <= wait <= 180


def test_attempts_are_counted_from_one():
    with pytest.raises(ValueError, match="from 1"):
        backoff(0, POLICY, none)


def test_a_longer_retry_after_wins_and_a_shorter_one_does_not():
    assert wait_before(1, POLICY, none, retry_after=42) == 42
    assert wait_before(1, POLICY, none, retry_after=1) == 5


def test_a_provider_cannot_ask_for_a_day():
    assert wait_before(1, POLICY, none, retry_after=86_400) == MAX_RETRY_AFTER


@given(st.integers(0, 2**32), st.one_of(st.none(), st.just(30.0)))
def test_ten_sessions_in_a_storm_do_not_retry_in_step(seed, retry_after):
    """A 429 that hits all at once must not be answered all at once."""
    chance = random.Random(seed)
    clocks = [0.0] * 10
    for attempt in (1, 2, 3):
        clocks = [
            clock
            + wait_before(attempt, POLICY, chance.uniform, retry_after=retry_after)
            for clock in clocks
        ]
    clocks.sort()

    assert clocks[-1] - clocks[0] > 1.0
    assert len({round(clock, 2) for clock in clocks}) >= 8
