"""The eleven mistakes that article 003 warns of, each as one test."""

from __future__ import annotations

import random

import pytest

from compaction.engine.compactor import compact, plan
from compaction.engine.llm import Completion, ErrorKind, ModelError
from compaction.engine.messages import Kind, Role
from compaction.engine.phases.summary_text import SUMMARY_PREFIX
from compaction.engine.plan import Outcome, Situation, Why
from compaction.engine.presets import DEFAULT, TUTORIAL
from compaction.engine.recovery.backoff import RetryPolicy, backoff
from compaction.engine.recovery.classification import classify
from compaction.engine.recovery.continuation import (
    CONTINUE_TEXT,
    NextStep,
    next_step,
)
from compaction.engine.recovery.failover import begin_turn, fail_over, start
from compaction.engine.task_state import (
    TaskState,
    compose_system_prompt,
    render,
    set_goal,
)
from compaction.engine.tokens import CharsOverFour, RoughCounter
from compaction.engine.triggers import Trigger
from compaction.engine.validation import Fault, validate
from tests.engine.builders import (
    ScriptedModel,
    assistant,
    long_conversation,
    system,
    user,
)

COUNTER = CharsOverFour()
BOTH = pytest.mark.parametrize("preset", [TUTORIAL, DEFAULT], ids=["tutorial", "ours"])


def small(preset):
    return preset.evolve(
        context_length=4_000,
        threshold_cap=1_000,
        tail_tokens=300,
        summary_min=100,
        summary_max=200,
    )


@BOTH
def test_1_clearing_output_removes_no_tool_message(preset):
    messages = long_conversation()
    situation = Situation(trigger=Trigger.PREFLIGHT)
    policy = small(preset).evolve(prune_enough=1.0)

    done = compact(messages, policy, ScriptedModel(), COUNTER, situation=situation)

    assert done.outcome is Outcome.PRUNED
    assert [m.tool_call_id for m in done.messages] == [m.tool_call_id for m in messages]
    assert done.tokens_after < done.plan.tokens_before


@BOTH
@pytest.mark.parametrize("tail", range(40, 760, 90))
def test_2_no_cut_falls_between_a_call_and_its_result(preset, tail):
    policy = small(preset).evolve(tail_tokens=tail, prune_enough=None)

    done = compact(long_conversation(), policy, ScriptedModel(), COUNTER)

    faults = {finding.fault for finding in validate(done.messages)}
    assert done.outcome is Outcome.SUMMARISED
    assert not faults & {Fault.ORPHAN_RESULT, Fault.UNANSWERED_CALL}


@BOTH
def test_3_the_summary_says_that_it_is_no_instruction(preset):
    messages = long_conversation()
    messages[-1:-1] = [user("x"), assistant("y")]
    policy = small(preset).evolve(prune_enough=None)

    done = compact(messages, policy, ScriptedModel(), COUNTER)

    (summary,) = [
        m for m in done.messages if m.kind is Kind.SUMMARY or m.carried_summary
    ]
    text = summary.carried_summary or summary.text
    assert text.startswith(SUMMARY_PREFIX)


def test_3_the_articles_preset_always_speaks_as_assistant_where_it_may():
    talk = [assistant("b" * 2_000), user("c" * 2_000)] * 6
    messages = [system(), user("start"), *talk, assistant("end")]
    policy = small(TUTORIAL).evolve(protect_first=2)

    done = compact(messages, policy, ScriptedModel(), COUNTER)

    assert done.outcome is Outcome.SUMMARISED
    roles = {m.role for m in done.messages if m.kind is Kind.SUMMARY}
    assert roles <= {Role.ASSISTANT}


@BOTH
def test_4_what_cannot_shrink_is_stuck_at_once_and_calls_nobody(preset):
    model = ScriptedModel()
    messages = [system("d" * 100_000), user(), assistant("I see."), user("Go on.")]
    situation = Situation(trigger=Trigger.PREFLIGHT)

    outcomes = [
        compact(messages, small(preset), model, COUNTER, situation=situation)
        for _ in range(3)
    ]

    assert {done.outcome for done in outcomes} == {Outcome.STUCK}
    assert outcomes[0].plan.reason is Why.PROTECTED_PARTS_TOO_LARGE
    assert model.requests == []


@BOTH
def test_5_the_task_state_is_no_part_of_the_messages(preset):
    state = set_goal(TaskState(), "Read all nine files.")
    messages = long_conversation()
    policy = small(preset).evolve(prune_enough=None)

    done = compact(messages, policy, ScriptedModel(), COUNTER)

    assert all(render(state) not in m.text for m in done.messages)
    assert render(state) in compose_system_prompt(done.messages[0].text, state)


def test_6_the_rough_estimate_needs_no_tokenizer_and_counts_chinese_honestly():
    """The article says that chars // 4 is high for Chinese; measured, it is 4 times
    too low, so only its own presets use it (docs/decisions)."""
    chinese = "上下文压缩与错误恢复" * 10

    assert CharsOverFour().count("word " * 20) == 25
    assert CharsOverFour().count(chinese) == 25
    assert 55 <= RoughCounter().count(chinese) <= 90


@pytest.mark.parametrize(
    ("status", "words", "flags"),
    [
        (429, "Too many requests", ("rate_limit", True, False)),
        (400, "maximum context length is 8192", ("context_overflow", True, True)),
        (500, "oops", ("server_error", True, False)),
        (502, "bad gateway", ("server_error", True, False)),
        (503, "unavailable", ("server_error", True, False)),
        (401, "no", ("auth", False, False)),
        (403, "no", ("auth", False, False)),
        (404, "no", ("model_not_found", False, False)),
        (418, "teapot", ("format_error", False, False)),
    ],
)
def test_7_each_kind_of_error_has_its_own_remedy(status, words, flags):
    decision = classify(ModelError(kind=ErrorKind.STATUS, message=words, status=status))

    assert (decision.reason, decision.retryable, decision.should_compact) == flags


def test_7_401_403_and_404_go_to_another_endpoint():
    for status in (401, 403, 404):
        error = ModelError(kind=ErrorKind.STATUS, message="no", status=status)
        assert classify(error).should_fallback


def test_8_every_path_has_a_budget():
    cut = [Completion(text=f"part {n}", finish_reason="length") for n in range(9)]
    steps = [next_step(c, used=n, limit=3) for n, c in enumerate(cut)]

    assert steps[:3] == [NextStep.CONTINUE] * 3
    assert set(steps[3:]) == {NextStep.BUDGET_EXHAUSTED}
    state = start(["primary", "fallback"])
    second = fail_over(state, 0.0)
    assert second is not None
    assert fail_over(second, 1.0) is None


def test_9_a_continuation_says_exactly_what_to_do():
    assert CONTINUE_TEXT == "Please continue from where you left off."


def test_9_thinking_without_an_answer_is_not_continued():
    thought = Completion(text="", reasoning="hm " * 50, finish_reason="length")

    step = next_step(thought, used=0, limit=3)

    assert step is NextStep.THINKING_BUDGET_EXHAUSTED


def test_10_ten_sessions_that_failed_together_do_not_retry_together():
    policy = RetryPolicy()
    waits = [backoff(3, policy, random.Random(seed).uniform) for seed in range(10)]

    assert [backoff(n, policy, lambda low, high: 0.0) for n in (1, 2, 3)] == [5, 10, 20]
    assert len({round(wait, 3) for wait in waits}) == 10
    assert all(20 <= wait <= 30 for wait in waits)


def test_11_the_next_turn_tries_the_primary_again():
    fallback = fail_over(start(["primary", "fallback"]), now=100.0)
    assert fallback is not None
    assert fallback.name == "fallback"

    assert begin_turn(fallback, now=101.0).name == "primary"


def test_11_but_not_while_the_primary_is_still_limited():
    limited = fail_over(start(["primary", "fallback"]), now=100.0, limited_for=60)
    assert limited is not None

    assert begin_turn(limited, now=130.0).name == "fallback"
    assert begin_turn(limited, now=161.0).name == "primary"


def test_stuck_names_the_part_that_is_too_large():
    messages = [system("rule " * 20_000), user("a"), assistant("b"), user("c")]
    situation = Situation(trigger=Trigger.PREFLIGHT)

    made = plan(messages, small(DEFAULT), COUNTER, situation=situation)

    assert made.sizes.head > made.threshold
