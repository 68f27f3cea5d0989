"""A model's thinking leaves its text; a quoted tag does not."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from compaction.engine.compactor import plan, summarise
from compaction.engine.presets import DEFAULT
from compaction.engine.thinking import strip_thinking
from compaction.engine.tokens import RoughCounter
from tests.engine.builders import ScriptedModel, long_conversation


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>hm</think>Answer", "Answer"),
        ("<think>\nhm\n</think>\n\n## Goal\nx", "## Goal\nx"),
        ("<THINKING>hm</THINKING>\nAnswer", "Answer"),
        ("<reasoning effort='high'>hm</reasoning>\nAnswer", "Answer"),
        ("One.\n<think>hm</think>\nTwo.", "One.\n\nTwo."),
        ("<think>a<think>b</think>c</think>Answer", "Answer"),
        ("<think>never closed", ""),
        ("Answer\n<think>never closed", "Answer\n"),
        ("thinking from before</think>\n\nAnswer", "Answer"),
        ("<think>```\ncode</think>\nAnswer", "Answer"),
        ("<think>a</think>\n<think>b</think>\nAnswer", "Answer"),
    ],
)
def test_thinking_is_taken_out(text: str, left: str):
    assert strip_thinking(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "The `<think>` tag opens and `</think>` closes.",
        "The <think> and </think> tags are stripped from summaries.",
        "```\n<think>\nquoted\n</think>\n```\nAfter",
        "Say <think> first, then answer.",
        "no tags at all",
        "a < b and b > c",
        "<thinker>not one</thinker>",
    ],
)
def test_a_tag_that_is_only_mentioned_stays(text: str):
    assert strip_thinking(text) == text


@given(st.lists(st.sampled_from(["<think>", "</think>", "\n", "a", "```", " "])))
def test_any_order_of_tags_leaves_only_parts_of_the_text(pieces: list[str]):
    text = "".join(pieces)
    at = -1

    for char in strip_thinking(text):
        at = text.find(char, at + 1)
        assert at >= 0


def test_thinking_never_reaches_a_summary():
    model = ScriptedModel(["<think>hm, the files</think>\n## Goal\nRead."])
    messages = long_conversation()
    policy = DEFAULT.evolve(threshold_cap=1_000, tail_tokens=200, prune_enough=None)
    made = plan(messages, policy, RoughCounter())

    summary = summarise(made, messages, model, counter=RoughCounter())

    assert summary.text == "## Goal\nRead."


@pytest.mark.parametrize("text", ["<think>", "</think>", "<think>\n", "<think "])
def test_hostile_repetition_is_survived(text: str):
    strip_thinking(text * 50_000)
