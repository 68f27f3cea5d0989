"""Going on after a cut answer, or stopping because it is no use."""

from __future__ import annotations

import pytest

from compaction.engine.llm import Completion, Usage
from compaction.engine.recovery.continuation import NextStep, next_step

CALL = ({"id": "c", "function": {"name": "f", "arguments": '{"a'}},)


def step(used=0, previous=None, **given):
    given.setdefault("finish_reason", "length")
    return next_step(Completion(**given), used=used, limit=3, previous_text=previous)


def test_a_whole_answer_is_accepted():
    assert step(text="Done.", finish_reason="stop") is NextStep.ACCEPT


@pytest.mark.parametrize("used", [0, 1, 2])
def test_a_cut_answer_is_continued_three_times(used):
    assert step(used, text="half") is NextStep.CONTINUE


def test_the_fourth_time_it_is_over():
    assert step(3, text="half") is NextStep.BUDGET_EXHAUSTED


@pytest.mark.parametrize(
    "given",
    [
        {"text": "", "reasoning": "hm " * 50},
        {"text": "<think>and on and on"},
        {"text": "<think>closed</think>  \n"},
        {"text": "", "usage": Usage(output_tokens=900, reasoning_tokens=900)},
        {"text": ""},
    ],
)
def test_thinking_without_an_answer_is_not_continued(given):
    assert step(**given) is NextStep.THINKING_BUDGET_EXHAUSTED


def test_an_answer_after_thinking_is_continued():
    assert step(text="<think>hm</think>Half an ans") is NextStep.CONTINUE


def test_the_same_words_twice_are_no_progress():
    assert step(1, "All done.", text="All done. ") is NextStep.IDENTICAL_CONTINUATION
    assert step(1, "All done.", text="And more") is NextStep.CONTINUE


def test_a_cut_tool_call_is_asked_for_again():
    assert step(tool_calls=CALL) is NextStep.RETRY_TOOL_CALL
    assert step(3, tool_calls=CALL) is NextStep.BUDGET_EXHAUSTED
