"""One turn: the task moves on, the budget holds, errors are recovered from."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from compaction.engine.llm import Completion, ErrorKind, ModelError
from compaction.engine.loop import INTERRUPTED, run_turn
from compaction.engine.presets import DEFAULT
from compaction.engine.recovery.actions import Action
from compaction.engine.recovery.continuation import CONTINUE_TEXT
from compaction.engine.recovery.reasons import Reason
from compaction.engine.task_state import TaskState, set_goal
from compaction.engine.triggers import Trigger
from compaction.engine.turn import Move, TurnEnd
from compaction.engine.validation import Fault, validate
from tests.engine.builders import assistant, long_conversation, result, system, user
from tests.engine.worlds import Diary, Tools, calls, says, stage


def fails(status, message="", **given):
    return ModelError(kind=ErrorKind.STATUS, message=message, status=status, **given)


def play(set_up, messages=None, **given):
    turn = set_up.turn(messages or [user("Go.")], **given)
    return run_turn(turn, set_up.world())


def test_an_answer_ends_the_turn():
    set_up = stage(says("Done."))

    done = play(set_up)

    assert done.end is TurnEnd.COMPLETED
    assert [m.text for m in done.messages] == ["Go.", "Done."]
    assert [m.text for m in set_up.diary.messages] == ["Done."]


def test_tools_run_until_there_is_an_answer():
    set_up = stage(calls("a", "b"), calls("c"), says("Done."))

    done = play(set_up)

    assert set_up.tools.ran == set_up.diary.begun == ["a", "b", "c"]
    assert done.iterations == 3
    assert validate(done.messages) == ()


def test_the_task_state_is_at_the_end_of_the_system_prompt_of_every_call():
    state = set_goal(TaskState(), "Read all nine files.")
    set_up = stage(calls("a"), says("Done."), state=state)

    play(set_up, [system("Rules."), user("Go.")])

    for request in set_up.models["primary"].requests:
        content = request.messages[0]["content"]
        assert content.startswith("Rules.")
        assert content.rstrip().endswith("## TODO")
        assert "Read all nine files." in content


def test_the_turn_stops_at_its_iterations():
    set_up = stage(calls("same"))

    done = play(set_up, max_iterations=4)

    assert done.end is TurnEnd.ITERATIONS_EXHAUSTED
    assert len(set_up.tools.ran) == 4


def test_a_rate_limit_after_twenty_minutes_loses_nothing():
    """Article 003's opening: 429, and the work of twenty minutes was gone."""
    work = long_conversation(rounds=20)
    set_up = stage(fails(429), fails(429), says("Done."))

    done = play(set_up, work)

    assert done.end is TurnEnd.COMPLETED
    assert list(done.messages[: len(work)]) == work
    assert set_up.waits == [5.0, 10.0]
    assert [f.decision.reason for f in set_up.diary.failures] == [Reason.RATE_LIMIT] * 2


def test_retry_after_is_honoured():
    set_up = stage(fails(429, retry_after=42.0), says("Done."))

    play(set_up)

    assert set_up.waits == [42.0]


def test_an_overflow_lowers_the_window_and_compacts():
    policy = DEFAULT.evolve(context_length=128_000, tail_tokens=300)
    words = "This model's maximum context length is 32768 tokens."
    set_up = stage(fails(400, words), says("Done."), policy=policy)

    done = play(set_up, long_conversation(rounds=30))

    assert done.end is TurnEnd.COMPLETED
    assert set_up.triggers == [Trigger.CONTEXT_OVERFLOW]
    assert done.window == 32_768
    assert [m.move for m in set_up.diary.moves] == [Move.WINDOW_LOWERED]


def test_an_output_cap_lowers_the_answer_and_never_compacts():
    words = "max_tokens is too large: 9000. This model supports at most 4096."
    set_up = stage(fails(400, words), says("Done."))

    done = play(set_up, max_tokens=9_000)

    assert done.end is TurnEnd.COMPLETED
    assert set_up.triggers == []
    asked = [r.max_tokens for r in set_up.models["primary"].requests]
    assert asked == [9_000, 4_096]


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_waiting_cannot_help_goes_to_the_fallback(status):
    set_up = stage(fails(status), fallback=[says("Done.")])

    done = play(set_up)

    assert done.end is TurnEnd.COMPLETED
    assert done.endpoints.name == "fallback"
    assert set_up.waits == []


def test_the_next_turn_is_back_at_the_primary():
    set_up = stage(fails(401), says("Back."), fallback=[says("Done.")])
    first = play(set_up)

    second = play(set_up, first.messages, endpoints=first.endpoints)

    assert second.endpoints.name == "primary"
    assert set_up.diary.moves[-1].move is Move.RESTORED


def test_without_a_fallback_it_is_refused_with_its_reason():
    done = play(stage(fails(401, "Incorrect API key")))

    assert done.end is TurnEnd.REFUSED
    assert done.decision.reason is Reason.AUTH


def test_retries_have_an_end():
    set_up = stage(fails(500))

    done = play(set_up)

    assert done.end is TurnEnd.RETRIES_EXHAUSTED
    assert [f.action for f in set_up.diary.failures] == [
        Action.RETRY,
        Action.RETRY,
        Action.GIVE_UP,
    ]


def test_a_cut_answer_is_continued_with_the_articles_sentence():
    set_up = stage(says("One, ", finish="length"), says("two."))

    done = play(set_up)

    assert [m.text for m in done.messages] == ["Go.", "One, ", CONTINUE_TEXT, "two."]


def test_three_continuations_and_no_more():
    parts = [says(f"part {n}", finish="length") for n in range(9)]
    set_up = stage(*parts)

    done = play(set_up)

    assert done.end is TurnEnd.CONTINUATIONS_EXHAUSTED
    assert len(set_up.models["primary"].requests) == 4
    assert done.messages[-1].text == "part 3"


def test_reasoning_alone_stops_at_once_and_stores_no_blank_message():
    """hermes#83915: four useless continuations, 77 minutes."""
    thought = Completion(text="", reasoning="hm " * 90, finish_reason="length")
    set_up = stage(thought)

    done = play(set_up)

    assert done.end is TurnEnd.THINKING_BUDGET_EXHAUSTED
    assert len(set_up.models["primary"].requests) == 1
    assert set_up.diary.messages == []


def test_the_same_words_again_stop_the_turn():
    """hermes#58087."""
    set_up = stage(says("All done.", finish="length"))

    done = play(set_up)

    assert done.end is TurnEnd.IDENTICAL_CONTINUATION
    assert sum(m.text == "All done." for m in done.messages) == 1


def test_a_tool_call_that_was_cut_off_is_asked_again_and_never_run():
    set_up = stage(calls("half", finish="length"), says("Done."))

    done = play(set_up, max_tokens=100)

    assert done.end is TurnEnd.COMPLETED
    assert set_up.tools.ran == []
    asked = [r.max_tokens for r in set_up.models["primary"].requests]
    assert asked == [100, 200]


def test_empty_replies_are_tried_again_and_never_stored():
    set_up = stage(says(" "))

    done = play(set_up)

    assert done.end is TurnEnd.EMPTY_REPLIES
    assert set_up.diary.messages == []


def test_the_loop_compacts_after_tool_results_by_real_usage():
    policy = DEFAULT.evolve(context_length=40_000, tail_tokens=2_000)
    set_up = stage(
        calls("a", usage=30_000), says("Done."), policy=policy, tools=Tools("x" * 400)
    )

    done = play(set_up, long_conversation(rounds=30, size=2_000))

    assert done.end is TurnEnd.COMPLETED
    assert Trigger.IN_LOOP in set_up.triggers or Trigger.PREFLIGHT in set_up.triggers


def test_what_cannot_shrink_ends_the_turn_early():
    policy = DEFAULT.evolve(context_length=8_000)
    set_up = stage(says("never asked"), policy=policy)

    done = play(set_up, [system("rule " * 9_000), user("Go.")])

    assert done.end is TurnEnd.STUCK
    assert set_up.models["primary"].requests == []


def test_an_operator_stops_the_turn():
    set_up = stage(calls("a"), diary=Diary(stop_after=3))

    done = play(set_up)

    assert done.end is TurnEnd.CANCELLED


def test_a_resumed_turn_runs_no_call_twice():
    left = [user("Go."), assistant("", calls=["a", "b", "c"]), result("a")]
    set_up = stage(says("Done."))

    done = play(set_up, left, begun_calls=frozenset({"b"}))

    assert set_up.tools.ran == ["c"]
    assert [m.text for m in done.messages[2:5]] == ["ok", INTERRUPTED, "ok"]


def test_a_cut_answer_of_a_dead_worker_is_continued():
    left = [user("Go."), assistant("One, ")]
    set_up = stage(says("two."))

    done = play(set_up, left)

    assert [m.text for m in done.messages] == ["Go.", "One, ", CONTINUE_TEXT, "two."]


def test_calls_without_an_id_of_their_own_get_one():
    set_up = stage(calls("", "a", "a"), says("Done."))

    done = play(set_up)

    assert set_up.diary.begun == ["call_1", "a", "a_3"]
    assert validate(done.messages) == ()


def test_a_run_that_finds_nothing_to_do_waits_for_more_and_costs_no_budget():
    policy = DEFAULT.evolve(context_length=40_000)
    busy = [calls(f"c{n}", usage=25_000) for n in range(6)]
    set_up = stage(*busy, says("Done."), policy=policy)

    done = play(set_up)

    assert done.end is TurnEnd.COMPLETED
    assert set_up.triggers == [Trigger.IN_LOOP]


def test_a_compaction_that_helped_gives_its_budget_back():
    """A long task may compact more often than a stuck one, as long as each helps."""
    policy = DEFAULT.evolve(context_length=20_000, tail_tokens=1_000)
    rounds = [calls(f"c{n}", usage=600 + 6_000 * (n % 2)) for n in range(30)]
    set_up = stage(*rounds, says("Done."), policy=policy, tools=Tools("word " * 5_200))

    done = play(set_up)

    assert done.end is TurnEnd.COMPLETED
    assert len(set_up.triggers) > 3


def test_no_second_automatic_run_before_a_real_number():
    """hermes#35054."""
    policy = DEFAULT.evolve(context_length=20_000, tail_tokens=1_000)
    silent = [calls(f"c{n}") for n in range(5)]
    set_up = stage(*silent, says("Done."), policy=policy, tools=Tools("word " * 3_000))

    play(set_up, long_conversation(rounds=30, size=2_000))

    assert len(set_up.triggers) == 1


def test_the_memory_stands_before_the_task_state_of_every_call():
    set_up = stage(says("Done."), state=set_goal(TaskState(), "Read."))
    world = replace(set_up.world(), memory=lambda: "# Memory\n- Port 8080.")

    run_turn(set_up.turn([user("Go.")], system_prompt="Rules."), world)

    prompt = set_up.models["primary"].requests[0].messages[0]["content"]
    assert prompt.startswith("Rules.\n\n# Memory\n- Port 8080.\n\n# Task State")


ANSWERS = st.one_of(
    st.sampled_from(
        [
            says("Done."),
            says(""),
            says("cut", finish="length"),
            says("also cut", finish="length"),
            Completion(reasoning="hm", finish_reason="length"),
            calls("x"),
            calls("y", finish="length"),
            says("much", usage=190_000),
            calls("z", usage=190_000),
        ]
    ),
    st.builds(
        fails,
        st.sampled_from([400, 401, 402, 404, 408, 413, 429, 500, 503, 529]),
        st.sampled_from(
            ["", "maximum context length is 9000", "max_tokens is too large", "busy"]
        ),
    ),
)


@given(
    st.lists(ANSWERS, min_size=1, max_size=25),
    st.lists(ANSWERS, max_size=10),
    st.integers(1, 8),
)
def test_every_turn_ends_within_the_sum_of_its_budgets(answers, fallback, most):
    before = long_conversation(rounds=6)
    set_up = stage(*answers, fallback=fallback)

    done = play(set_up, before, max_iterations=most)

    asked = sum(len(model.requests) for model in set_up.models.values())
    assert asked <= most * 4 * (3 * 2 + 3 + 1)
    assert len(set_up.triggers) <= 3
    kept = [m for m in done.messages if m in before]
    if not set_up.triggers:
        assert kept == before
    assert Fault.ORPHAN_RESULT not in {f.fault for f in validate(done.messages)}
    assert all(m.has_text or m.tool_calls or m.is_result for m in set_up.diary.messages)
    assert len(set_up.diary.begun) == len(set_up.tools.ran)
