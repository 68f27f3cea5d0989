"""Asking for the summary: parts in a row, faults named, secrets out."""

from __future__ import annotations

import pytest

from compaction.engine.compactor import plan, summarise, write_prompt
from compaction.engine.llm import Completion, ErrorKind, ModelError, Usage
from compaction.engine.phases.completion_check import SummaryFault
from compaction.engine.phases.summary import SummaryFailed, add_usage
from compaction.engine.plan import Situation
from compaction.engine.presets import DEFAULT
from compaction.engine.tokens import RoughCounter
from tests.engine.builders import ScriptedModel, long_conversation

COUNTER = RoughCounter()
POLICY = DEFAULT.evolve(threshold_cap=1_000, tail_tokens=200, prune_enough=None)


def ask(model, messages=None, **situation):
    messages = messages or long_conversation()
    made = plan(messages, POLICY, COUNTER, situation=Situation(**situation))
    return summarise(made, messages, model, counter=COUNTER)


def test_the_summary_comes_bare():
    result = ask(ScriptedModel(["[CONTEXT COMPACTION - x]\n## Goal\nRead."]))

    assert result.text == "## Goal\nRead."
    assert result.calls == 1


def test_a_secret_that_the_model_repeats_is_redacted():
    key = "sk-ant-" + "a1B2c3D4e5F6g7H8" * 4

    assert key not in ask(ScriptedModel([f"## Goal\nUse {key}"])).text


def test_parts_are_summarised_one_on_top_of_the_other():
    model = ScriptedModel(["## Goal\nfirst", "## Goal\nsecond", "## Goal\nthird"])
    messages = long_conversation(rounds=60, size=2_000)

    result = ask(model, messages, summariser_window=8_000)

    assert result.calls == len(model.requests) > 2
    assert "## Goal\nfirst" in model.requests[1].messages[1]["content"]
    assert result.text == "## Goal\nthird"


@pytest.mark.parametrize(
    ("completion", "fault"),
    [
        (Completion(text=" \n\t", finish_reason="stop"), SummaryFault.BLANK),
        (Completion(reasoning="hm", finish_reason="stop"), SummaryFault.REASONING_ONLY),
        (Completion(text="## Goal\nx", finish_reason="length"), SummaryFault.CUT_SHORT),
        (
            Completion(text="<tool_call>{}", finish_reason="stop"),
            SummaryFault.TOOL_MARKUP,
        ),
        (
            Completion(text="<!doctype html><html>", finish_reason="stop"),
            SummaryFault.HTML,
        ),
        (Completion(text="## Goal\nx", finish_reason=None), SummaryFault.UNFINISHED),
    ],
)
def test_what_is_no_summary_is_refused(completion, fault):
    with pytest.raises(SummaryFailed) as failed:
        ask(ScriptedModel([completion]))

    assert failed.value.fault is fault


def test_an_error_of_the_model_is_passed_on_with_its_status():
    error = ModelError(kind=ErrorKind.STATUS, message="overloaded", status=529)

    with pytest.raises(SummaryFailed, match="overloaded") as failed:
        ask(ScriptedModel([error]))

    assert failed.value.fault is SummaryFault.CALL_FAILED
    assert failed.value.error is error


def test_a_rule_summariser_reads_the_messages_and_costs_nothing():
    class Rules:
        name = "rules"

        def write_summary(
            self, messages, *, previous, template, budget_tokens, counter
        ):
            return f"## Goal\n{len(messages)} messages, {budget_tokens} tokens"

    messages = long_conversation()
    made = plan(messages, POLICY, COUNTER)
    result = summarise(made, messages, Rules(), counter=COUNTER)

    assert result.embedded
    assert result.text.startswith(f"## Goal\n{made.sizes.middle_count} messages")


def test_usage_adds_up_over_calls():
    one = Usage(input_tokens=10, output_tokens=2)

    assert add_usage([one, None, one]) == Usage(input_tokens=20, output_tokens=4)
    assert add_usage([None]) is None


def test_streamed_text_is_passed_on():
    chunks: list[str] = []
    messages = long_conversation()
    made = plan(messages, POLICY, COUNTER)

    summarise(made, messages, ScriptedModel(), counter=COUNTER, on_chunk=chunks.append)

    assert "".join(chunks).startswith("## Goal")
    assert len(write_prompt(made, messages).parts) == 1
