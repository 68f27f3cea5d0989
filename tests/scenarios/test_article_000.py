"""Article 000's worked examples, run with the preset that reproduces it."""

from __future__ import annotations

import json

import pytest

from compaction.engine.compactor import compact, plan, write_prompt
from compaction.engine.lineage import new_session_id, next_title
from compaction.engine.messages import Role, from_dict
from compaction.engine.outline import outline_of
from compaction.engine.phases.boundaries import find_head_end
from compaction.engine.phases.placement import Parts, place_summary
from compaction.engine.phases.summary_text import SUMMARY_HEADINGS, SYSTEM_NOTE
from compaction.engine.phases.tool_pairs import RepairKind, sanitise_pairs
from compaction.engine.phases.transcript import limits_of, write_transcript
from compaction.engine.plan import Outcome, Situation, Verdict, Why
from compaction.engine.planning import plan_outline
from compaction.engine.policy import Template
from compaction.engine.presets import HERMES
from compaction.engine.tokens import CharsOverFour
from compaction.engine.triggers import Trigger
from tests.engine.builders import ScriptedModel, assistant, call, result, system, user
from tests.scenarios.conversation_52 import TOOL_SCHEMA_TOKENS, build

COUNTER = CharsOverFour()
PREFLIGHT = Situation(trigger=Trigger.PREFLIGHT, fixed_tokens=TOOL_SCHEMA_TOKENS)
SUMMARY = "## Goal\n" + "a" * (4 * 2_400)


@pytest.fixture
def example():
    return build()


@pytest.fixture
def done(example):
    model = ScriptedModel([SUMMARY])
    return compact(example, HERMES, model, COUNTER, situation=PREFLIGHT)


def test_a_200k_window_is_compacted_from_100000_tokens_on():
    assert HERMES.threshold_tokens == 100_000
    assert HERMES.tail_budget == 20_000


def test_52_messages_and_150000_tokens_are_due(example):
    made = plan(example, HERMES, COUNTER, situation=PREFLIGHT)

    assert len(example) == 52
    assert made.request_tokens == pytest.approx(150_000, abs=1_000)
    assert (made.verdict, made.reason) == (Verdict.SUMMARISE, Why.OVER_THRESHOLD)


def test_24_messages_are_never_due_at_preflight_however_large(example):
    few = example[:24]

    made = plan(few, HERMES, COUNTER, situation=PREFLIGHT)
    in_loop = Situation(trigger=Trigger.IN_LOOP, fixed_tokens=60_000)

    assert (made.verdict, made.reason) == (Verdict.NOOP, Why.BELOW_THRESHOLD) or (
        made.reason is Why.MESSAGE_GATE
    )
    assert plan(few, HERMES, COUNTER, situation=in_loop).verdict is Verdict.SUMMARISE


def test_twelve_old_results_are_cleared_and_free_about_8000_tokens(done):
    assert len(done.assembly.edited) == 12
    assert done.plan.sizes.all_saved == pytest.approx(8_000, abs=100)


def test_the_boundaries_are_4_and_35(done):
    assert (done.plan.split.head_end, done.plan.split.tail_start) == (4, 35)
    assert done.plan.sizes.middle_count == 31


def test_a_middle_of_80000_tokens_asks_for_16000_and_gets_12000(done):
    middle = done.plan.sizes.middle - done.plan.sizes.middle_saved

    assert middle == pytest.approx(80_000, abs=500)
    assert int(middle * HERMES.summary_ratio) == pytest.approx(16_000, abs=100)
    assert done.plan.summary_budget == 12_000


def test_52_messages_become_22_and_after_the_pairs_are_mended_20(done):
    repairs = [repair.kind for repair in done.assembly.repairs]

    assert repairs.count(RepairKind.RESULT_DROPPED) == 3
    assert repairs.count(RepairKind.CALL_STUBBED) == 1
    assert len(done.messages) + 3 - 1 == 22
    assert len(done.messages) == 20


def test_about_45000_tokens_are_left(done):
    assert done.outcome is Outcome.SUMMARISED
    assert done.tokens_after == pytest.approx(45_000, abs=500)


def test_the_summary_speaks_as_user_behind_a_tool_result(done):
    assert done.messages[5].role is Role.USER
    assert done.messages[5].kind == "summary"


def test_the_system_message_gets_the_note_once(done):
    again = compact(
        [*done.messages, *build()[4:]],
        HERMES,
        ScriptedModel([SUMMARY]),
        COUNTER,
        situation=PREFLIGHT,
    )

    assert again.messages[0].text.count(SYSTEM_NOTE) == 1


def test_the_head_moves_forward_past_a_tool_result():
    messages = [system(), user(), assistant("", calls=["a"]), result("a"), assistant()]

    assert find_head_end(outline_of(messages, COUNTER), HERMES) == 4


def test_an_old_tool_result_becomes_a_placeholder_and_keeps_its_id():
    old = result("call_abc", "def main():\n" + "x" * 5_000)
    rest = [user("a" * 90_000) for _ in range(2)]
    messages = [system(), user(), assistant("", calls=["call_abc"]), old, *rest]

    done = compact(messages, HERMES, ScriptedModel(), COUNTER)

    assert done.messages[3].content == "[Old tool output cleared to save context space]"
    assert done.messages[3].tool_call_id == "call_abc"


def test_a_long_tool_result_is_sent_as_4000_and_1500_characters():
    text = "h" * 4_000 + "m" * 1_000 + "t" * 1_500

    written = write_transcript([result("call_abc", text)], limits_of(HERMES))

    assert written.startswith("[TOOL RESULT call_abc]: " + "h" * 4_000)
    assert written.endswith("t" * 1_500)
    assert "m" not in written
    assert "truncated" in written


def test_long_arguments_are_sent_as_1200_characters():
    turn = assistant("Patching.", calls=[call("c", "patch", text="z" * 2_000)])

    written = write_transcript([turn], limits_of(HERMES))

    assert written.startswith("[ASSISTANT]: Patching.\n[Tool calls:\n  patch(")
    assert 1_100 < written.count("z") <= 1_200


@pytest.mark.parametrize(
    ("head", "tail", "expected"),
    [
        ([system(), user(), assistant()], [assistant()], Role.USER),
        ([system(), user()], [user()], Role.ASSISTANT),
        ([system(), user()], [assistant()], Role.ASSISTANT),
        ([system()], [assistant()], Role.USER),
    ],
)
def test_the_role_is_chosen_so_that_it_alternates(head, tail, expected):
    parts = Parts(
        head=tuple((m, i) for i, m in enumerate(head)),
        kept=(),
        tail=tuple((m, len(head) + i) for i, m in enumerate(tail)),
        kept_is_older=False,
    )

    placed = place_summary(parts, "## Goal\nx", HERMES)

    assert placed[len(head)][0].role is expected


def test_the_articles_tool_pair_example_comes_out_sanitised():
    left = [
        assistant("", calls=["call_abc"]),
        result("call_abc", "result"),
        result("call_def", "result"),
    ]

    paired = sanitise_pairs(left)

    assert [m.tool_call_id for m in paired.messages] == [None, "call_abc"]


def test_a_call_whose_result_was_summarised_gets_the_stub():
    paired = sanitise_pairs(
        [assistant("", calls=["call_2"]), user("Add logging")],
        summarised_ids=frozenset({"call_2"}),
    )

    assert paired.messages[1].tool_call_id == "call_2"
    assert "see context summary above" in paired.messages[1].text


def test_the_prompt_asks_for_the_eight_headings_and_the_budget(example):
    made = plan(example, HERMES, COUNTER, situation=PREFLIGHT)

    prompt = write_prompt(made, example).user_text(0, "")

    for path in SUMMARY_HEADINGS[Template.HERMES]:
        assert path.split(" / ")[-1] in prompt
    assert "12,000 tokens" in prompt


def test_an_update_sends_the_previous_summary_and_the_new_turns(example):
    situation = Situation(previous_summary="## Goal\nFix the login bug.", compactions=1)
    made = plan(example, HERMES, COUNTER, situation=situation)
    prompt = write_prompt(made, example)

    sent = prompt.user_text(0, prompt.previous)

    assert "Fix the login bug." in sent
    assert "In Progress to Done" in sent


def test_a_failed_summary_leaves_the_articles_placeholder(example):
    done = compact(example, HERMES, ScriptedModel([" "]), COUNTER, situation=PREFLIGHT)

    assert done.outcome is Outcome.SUMMARISED
    assert done.failure is not None
    assert "31 earlier messages" in done.messages[5].text


def test_a_session_id_is_a_time_and_six_hex_digits(time_2025):
    assert new_session_id(time_2025, "abc123ff") == "20250101_120000_abc123"


def test_the_title_of_the_next_session_is_numbered():
    assert next_title("Fix login bug") == "Fix login bug #2"
    assert next_title("Fix login bug #2", ["Fix login bug"]) == "Fix login bug #3"


def test_the_message_walk_counts_arguments():
    """Part 2.2 counts len(content) // 4 + 10 + len(arguments) // 4."""
    message = from_dict(
        {
            "role": "assistant",
            "content": "a" * 40,
            "tool_calls": [
                {
                    "id": "c",
                    "function": {"name": "n", "arguments": json.dumps("b" * 78)},
                }
            ],
        }
    )
    made = plan_outline(outline_of([message], COUNTER), HERMES)

    assert made.sizes.total == 10 + 10 + 20


@pytest.fixture
def time_2025():
    from datetime import UTC, datetime

    return datetime(2025, 1, 1, 12, tzinfo=UTC)
