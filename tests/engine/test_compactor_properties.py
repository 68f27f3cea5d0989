"""Whatever the conversation, whatever the policy: nothing is lost, nothing breaks."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import assume, given, strategies as st

from compaction.engine.compactor import compact, plan
from compaction.engine.messages import Kind, from_storage, to_storage
from compaction.engine.outline import outline_of
from compaction.engine.plan import OpenCalls, Outcome, Situation
from compaction.engine.presets import DEFAULT, HERMES, TUTORIAL
from compaction.engine.tokens import RoughCounter
from compaction.engine.triggers import Trigger
from compaction.engine.validation import Fault, validate
from tests.engine.builders import ScriptedModel, assistant, group, user
from tests.engine.invariants import CHANGED, check_compaction
from tests.engine.strategies import broken_conversations, conversations

COUNTER = RoughCounter()
SMALL = {"context_length": 2_000, "summary_min": 50, "summary_max": 200}
POLICIES = st.sampled_from(
    [
        DEFAULT.evolve(**SMALL, tail_tokens=120),
        DEFAULT.evolve(**SMALL, tail_tokens=400, protect_first=0),
        HERMES.evolve(**SMALL, message_gate=None, tail_tokens=150),
        TUTORIAL.evolve(**SMALL, threshold_cap=600, tail_tokens=200),
    ]
)
SITUATIONS = st.builds(
    Situation,
    trigger=st.sampled_from(list(Trigger)),
    compactions=st.integers(0, 3),
    open_calls=st.sampled_from(list(OpenCalls)),
)


@given(st.one_of(conversations(), broken_conversations()), POLICIES, SITUATIONS)
def test_one_run_keeps_every_invariant(messages, policy, situation):
    done = compact(messages, policy, ScriptedModel(), COUNTER, situation=situation)

    check_compaction(messages, done)


@given(conversations(), POLICIES, SITUATIONS, st.integers(2, 5))
def test_five_runs_in_a_row_keep_every_invariant(messages, policy, situation, rounds):
    for number in range(rounds):
        situation = replace(situation, compactions=number, previous_summary="")
        done = compact(messages, policy, ScriptedModel(), COUNTER, situation=situation)
        check_compaction(messages, done)
        summaries = [m for m in done.messages if m.kind is Kind.SUMMARY]
        carried = [m for m in done.messages if m.carried_summary]
        assert len(summaries) + len(carried) <= 1
        messages = [
            *done.messages,
            user(f"And then, round {number}?"),
            *group(f"more{number}", "output " * 60),
            assistant(f"Done with round {number}."),
        ]


@given(conversations(), POLICIES, SITUATIONS)
def test_a_plan_is_the_same_every_time(messages, policy, situation):
    first = plan(messages, policy, COUNTER, situation=situation)
    second = plan(list(messages), policy, COUNTER, situation=situation)

    assert first == second
    assert first.digest == second.digest


@given(st.one_of(conversations(), broken_conversations()))
def test_every_default_cut_is_a_safe_cut(messages):
    policy = DEFAULT.evolve(**SMALL, tail_tokens=120)
    made = plan(messages, policy, COUNTER, situation=Situation())
    cuts = outline_of(messages, COUNTER).cuts

    assert made.split.head_end in cuts
    assert made.split.tail_start in cuts


@given(st.one_of(conversations(), broken_conversations()))
def test_a_safe_cut_never_parts_a_call_from_its_result(messages):
    outline = outline_of(messages, COUNTER)

    for cut in outline.cuts:
        for position in range(cut, len(messages)):
            owner = outline.call_of(position)
            assert owner is None or owner >= cut


@given(conversations())
def test_storing_a_message_and_reading_it_back_changes_nothing(messages):
    for message in messages:
        assert from_storage(to_storage(message)) == message


@given(conversations(), SITUATIONS)
def test_the_newest_user_message_stays_word_for_word(messages, situation):
    policy = DEFAULT.evolve(**SMALL, tail_tokens=60)
    newest = [m for m in messages if m.role == "user"][-1]

    done = compact(messages, policy, ScriptedModel(), COUNTER, situation=situation)

    assert newest in done.messages


@given(conversations(), POLICIES)
def test_a_message_of_the_past_reaches_the_next_transcript(messages, policy):
    """What leaves the head by decay, or carried a summary, is summarised then."""
    first = compact(messages, policy, ScriptedModel(), COUNTER)
    grown = [*first.messages, user("next"), *group("later", "text " * 400)]
    situation = Situation(compactions=int(first.outcome in CHANGED))
    second = compact(grown, policy, ScriptedModel(), COUNTER, situation=situation)

    if second.outcome is Outcome.SUMMARISED:
        check_compaction(grown, second)


@given(conversations(), SITUATIONS)
def test_a_summary_never_stands_beside_a_message_of_its_own_role(messages, situation):
    """hermes#1720: a provider that wants alternation refuses such a list."""
    assume(Fault.ADJACENT_ROLES not in {f.fault for f in validate(messages)})
    policy = DEFAULT.evolve(**SMALL, tail_tokens=120)

    done = compact(messages, policy, ScriptedModel(), COUNTER, situation=situation)

    spoken = [m for m in done.messages if not m.is_system]
    for before, after in pairwise(spoken):
        if Kind.SUMMARY in (before.kind, after.kind):
            assert before.role is not after.role
    if done.outcome is Outcome.SUMMARISED:
        assert spoken[0].role == "user"
        assert spoken[-1].kind is not Kind.SUMMARY
