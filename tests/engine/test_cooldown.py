"""The ladder of waits after failed summaries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from compaction.engine.cooldown import LONGEST, cooldown_after, next_cooldown
from compaction.engine.recovery.reasons import Reason

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
GROWING = sorted(
    set(Reason) - {Reason.BROKEN_RESPONSE, Reason.CUT_STREAM, Reason.NO_PROVIDER}
)


@pytest.mark.parametrize("reason", GROWING)
def test_the_wait_grows_with_failures_in_a_row(reason: Reason):
    waits = [cooldown_after(reason, failures) for failures in (1, 2, 3, 4, 50)]

    assert waits == [60, 300, 900, 900, 900]


@pytest.mark.parametrize("reason", [Reason.BROKEN_RESPONSE, Reason.CUT_STREAM])
def test_a_broken_answer_is_tried_again_soon_however_often(reason: Reason):
    assert [cooldown_after(reason, failures) for failures in (1, 2, 9)] == [30, 30, 30]


def test_without_a_provider_ten_minutes_pass():
    assert cooldown_after(Reason.NO_PROVIDER, 1) == 600


def test_a_longer_retry_after_wins():
    assert cooldown_after(Reason.RATE_LIMIT, 1, retry_after=120) == 120


def test_a_shorter_retry_after_does_not_shorten_the_ladder():
    assert cooldown_after(Reason.RATE_LIMIT, 2, retry_after=5) == 300


def test_an_endless_retry_after_is_cut_to_an_hour():
    assert cooldown_after(Reason.RATE_LIMIT, 1, retry_after=1e9) == LONGEST


def test_a_success_begins_the_ladder_again():
    """The caller counts failures in a row; after a success that is 1 again."""
    assert cooldown_after(Reason.TIMEOUT, 3) > cooldown_after(Reason.TIMEOUT, 1)


def test_a_cooldown_says_until_when_and_on_which_rung():
    cooldown = next_cooldown(Reason.TIMEOUT, 2, now=NOW)

    assert cooldown.until == NOW + timedelta(minutes=5)
    assert (cooldown.seconds, cooldown.rung, cooldown.asked) == (300, 2, False)


def test_a_cooldown_says_when_the_provider_asked_for_it():
    cooldown = next_cooldown(Reason.RATE_LIMIT, 1, now=NOW, retry_after=90)

    assert (cooldown.seconds, cooldown.asked) == (90, True)


@given(
    reason=st.sampled_from(Reason),
    failures=st.integers(min_value=-3, max_value=10_000),
    retry_after=st.none() | st.floats(allow_nan=False),
)
def test_no_wait_is_ever_negative_or_longer_than_an_hour(
    reason: Reason, failures: int, retry_after: float | None
):
    assert 30 <= cooldown_after(reason, failures, retry_after=retry_after) <= LONGEST
