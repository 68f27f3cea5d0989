"""One action for a decision and the budgets that are left."""

from __future__ import annotations

import pytest

from compaction.engine.recovery.actions import Action, Spent, choose_action, limited_for
from compaction.engine.recovery.backoff import RetryPolicy
from compaction.engine.recovery.probe import next_window
from compaction.engine.recovery.reasons import REMEDIES, Decision, Reason

POLICY = RetryPolicy()


def decision(reason: Reason, **given) -> Decision:
    remedy = REMEDIES[reason]
    return Decision(
        reason=reason,
        retryable=remedy.retry,
        should_compact=remedy.compact,
        should_fallback=remedy.fallback,
        should_shrink_output=remedy.shrink_output,
        **given,
    )


def choose(reason, left=1, **spent):
    spent.setdefault("attempts", 1)
    return choose_action(decision(reason), Spent(**spent), POLICY, endpoints_left=left)


@pytest.mark.parametrize(
    ("reason", "action"),
    [
        (Reason.RATE_LIMIT, Action.RETRY),
        (Reason.SERVER_ERROR, Action.RETRY),
        (Reason.TIMEOUT, Action.RETRY),
        (Reason.AUTH, Action.FAIL_OVER),
        (Reason.BILLING, Action.FAIL_OVER),
        (Reason.MODEL_NOT_FOUND, Action.FAIL_OVER),
        (Reason.CONTEXT_OVERFLOW, Action.COMPACT),
        (Reason.PAYLOAD_TOO_LARGE, Action.COMPACT),
        (Reason.LONG_CONTEXT_TIER, Action.COMPACT),
        (Reason.OUTPUT_CAP, Action.SHRINK_OUTPUT),
        (Reason.CERTIFICATE, Action.GIVE_UP),
        (Reason.UNKNOWN, Action.GIVE_UP),
    ],
)
def test_the_first_failure_leads_to_the_remedy_of_its_reason(reason, action):
    assert choose(reason) is action


@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.OVERLOADED])
def test_repeated_timeouts_go_to_another_endpoint(reason):
    assert choose(reason, attempts=2) is Action.FAIL_OVER
    assert choose(reason, attempts=2, left=0) is Action.RETRY


def test_a_rate_limit_goes_to_another_endpoint_when_waiting_was_no_use():
    """hermes#32646: a 429 after a timeout never fell back."""
    assert choose(Reason.RATE_LIMIT, attempts=3) is Action.FAIL_OVER
    assert choose(Reason.RATE_LIMIT, attempts=3, left=0) is Action.GIVE_UP


@pytest.mark.parametrize(
    ("reason", "spent"),
    [
        (Reason.CONTEXT_OVERFLOW, {"compactions": 3}),
        (Reason.OUTPUT_CAP, {"shrunk": 1}),
        (Reason.AUTH, {"failovers": 3}),
        (Reason.SERVER_ERROR, {"attempts": 3, "failovers": 3}),
    ],
)
def test_every_path_has_an_end(reason, spent):
    assert choose(reason, **spent) is Action.GIVE_UP


def test_a_limited_endpoint_is_left_alone_for_a_minute_or_as_long_as_it_says():
    assert limited_for(decision(Reason.RATE_LIMIT)) == 60.0
    assert limited_for(decision(Reason.RATE_LIMIT, retry_after=300.0)) == 300.0
    assert limited_for(decision(Reason.AUTH)) == 0.0


@pytest.mark.parametrize(
    ("window", "stated", "after"),
    [
        (200_000, None, 128_000),
        (128_000, None, 64_000),
        (200_000, 131_072, 131_072),
        (64_000, 200_000, 32_000),
        (64_000, 12, 32_000),
        (8_000, None, 8_000),
        (1_000_000, None, 256_000),
    ],
)
def test_the_window_goes_down_to_what_is_stated_or_to_the_next_tier(
    window, stated, after
):
    assert next_window(window, stated) == after
