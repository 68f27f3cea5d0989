"""What a plan decides, and why."""

from __future__ import annotations

import pytest

from compaction.engine.compactor import plan
from compaction.engine.effective import check_floor
from compaction.engine.plan import OpenCalls, Situation, Verdict, Why
from compaction.engine.policy import PolicyError
from compaction.engine.presets import DEFAULT
from compaction.engine.tokens import RoughCounter
from compaction.engine.triggers import Trigger
from tests.engine.builders import assistant, long_conversation, result, system, user

COUNTER = RoughCounter()
POLICY = DEFAULT.evolve(threshold_cap=1_000, tail_tokens=200, prune_enough=None)


def decide(messages, policy=POLICY, **situation):
    situation.setdefault("trigger", Trigger.PREFLIGHT)
    made = plan(messages, policy, COUNTER, situation=Situation(**situation))
    return made.verdict, made.reason


def test_below_the_threshold_nothing_is_due():
    messages = [system(), user(), assistant(), user()]

    assert decide(messages) == (Verdict.NOOP, Why.BELOW_THRESHOLD)


def test_tools_and_system_prompt_outside_the_messages_count():
    messages = [system(), user(), *long_conversation(rounds=2)[2:]]

    assert decide(messages)[0] is Verdict.NOOP
    assert decide(messages, fixed_tokens=900)[0] is not Verdict.NOOP


def test_few_but_huge_messages_are_due():
    """hermes#27405: eight messages of 1.3 million tokens never compacted."""
    messages = [system(), user(), assistant("x" * 90_000), user("a"), assistant("b")]

    assert decide(messages, POLICY.evolve(protect_first=1))[0] is Verdict.SUMMARISE


def test_an_operator_need_not_wait_for_the_threshold():
    verdict, why = decide(long_conversation(), DEFAULT, trigger=Trigger.MANUAL)

    assert (verdict, why) == (Verdict.SUMMARISE, Why.REQUESTED)


def test_a_provider_that_refused_is_a_reason_of_its_own():
    verdict, why = decide(long_conversation(), trigger=Trigger.CONTEXT_OVERFLOW)

    assert (verdict, why) == (Verdict.SUMMARISE, Why.PROVIDER_REFUSED)


def test_a_call_that_is_still_running_defers_the_run():
    messages = [*long_conversation(), assistant("", calls=["a", "b"]), result("a")]

    assert decide(messages) == (Verdict.DEFERRED, Why.OPEN_CALL)
    assert decide(messages, open_calls=OpenCalls.LEAVE)[0] is Verdict.SUMMARISE


def test_pruning_is_enough_where_it_frees_nearly_all():
    messages = long_conversation(rounds=10, size=4_000)
    policy = DEFAULT.evolve(threshold_cap=5_000, tail_tokens=300)

    assert decide(messages, policy) == (Verdict.PRUNE, Why.PRUNING_IS_ENOUGH)


def test_a_manual_run_wants_its_summary_all_the_same():
    messages = long_conversation(rounds=10, size=4_000)
    policy = DEFAULT.evolve(threshold_cap=5_000, tail_tokens=300)

    assert decide(messages, policy, trigger=Trigger.MANUAL)[0] is Verdict.SUMMARISE


def test_a_system_prompt_over_the_threshold_is_stuck_and_says_why():
    """claude-code#2391: a rules file alone exceeds the threshold."""
    messages = [system("rule " * 4_000), user("a"), assistant("b"), user("c")]

    assert decide(messages) == (Verdict.STUCK, Why.PROTECTED_PARTS_TOO_LARGE)


def test_nothing_at_all_is_no_error():
    assert decide([]) == (Verdict.NOOP, Why.EMPTY)


def test_a_summary_alone_is_not_summarised_again():
    """openclaw#12170: a second pass summarised the summary."""
    from compaction.engine.messages import Kind

    summary = user("x" * 400).evolve(kind=Kind.SUMMARY)
    messages = [system(), summary, assistant("a"), user("b")]

    verdict, _ = decide(messages, trigger=Trigger.MANUAL, compactions=1)

    assert verdict is Verdict.NOOP


def test_the_projection_lies_between_what_stays_and_what_was():
    made = plan(long_conversation(), POLICY, COUNTER)

    assert made.sizes.head < made.tokens_after
    assert made.floor > made.sizes.head + made.sizes.tail


def test_a_threshold_below_what_stays_is_refused_with_the_floor():
    """Four compactions in one turn were measured with such a threshold."""
    made = plan(long_conversation(), POLICY, COUNTER)

    with pytest.raises(PolicyError, match=f"{made.floor:,}") as refused:
        check_floor(made)

    assert refused.value.floor == made.floor


def test_equal_plans_have_equal_hashes_and_others_do_not():
    messages = long_conversation()
    first = plan(messages, POLICY, COUNTER)

    assert first.digest == plan(messages, POLICY, COUNTER).digest
    assert first.digest != plan(messages[:-1], POLICY, COUNTER).digest
    other = POLICY.evolve(summary_max=3_000)
    assert first.digest != plan(messages, other, COUNTER).digest
