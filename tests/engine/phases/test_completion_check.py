"""Which answers can stand as a summary, and why the others cannot."""

from __future__ import annotations

from typing import Any

import pytest

from compaction.engine.llm import Completion
from compaction.engine.phases.completion_check import (
    SummaryFault,
    check_completion,
)

GOOD = "## Goal\nFix the login.\n\n## Next Steps\n- test it"


def check(text: str = GOOD, **values: Any) -> SummaryFault | None:
    given = {"finish_reason": "stop"} | values
    return check_completion(Completion(text=text, **given))


@pytest.mark.parametrize("reason", ["stop", "end_turn", "eos", "STOP"])
def test_a_finished_summary_is_usable(reason: str):
    assert check(finish_reason=reason) is None


@pytest.mark.parametrize("text", ["", "  \n\t ", "\u3000\n"])
def test_blank_text_is_no_summary(text: str):
    assert check(text) is SummaryFault.BLANK


@pytest.mark.parametrize(
    ("text", "reasoning"),
    [
        ("", "The user wants a summary."),
        ("<think>The user wants a summary.</think>", ""),
        ("<think>never finished", ""),
    ],
)
def test_reasoning_without_text_is_no_summary(text: str, reasoning: str):
    assert check(text, reasoning=reasoning) is SummaryFault.REASONING_ONLY


def test_reasoning_before_a_summary_does_no_harm():
    assert check(f"<think>first this</think>\n{GOOD}", reasoning="and that") is None


@pytest.mark.parametrize(
    ("reason", "fault"),
    [
        ("length", SummaryFault.CUT_SHORT),
        ("max_tokens", SummaryFault.CUT_SHORT),
        ("content_filter", SummaryFault.FILTERED),
        ("error", SummaryFault.UNFINISHED),
        (None, SummaryFault.UNFINISHED),
    ],
)
def test_an_unfinished_summary_is_refused(reason: str | None, fault: SummaryFault):
    assert check(finish_reason=reason) is fault


def test_a_filtered_answer_without_text_is_told_as_filtered():
    assert check("", finish_reason="content_filter") is SummaryFault.FILTERED


CALL = '{"name": "read_file", "arguments": {"path": "a.py"}}'


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"\n\n<tool_call>{CALL}",
        "<function=read_file>\n<parameter=path>a.py</parameter>\n</function>",
        f"[TOOL_CALLS][{CALL}]",
        f"[TOOL_CALL]{CALL}[/TOOL_CALL]",
        f"<|tool_call_begin|>{CALL}<|tool_call_end|>",
        "<｜tool▁calls▁begin｜>read_file",
        '<function_calls><invoke name="read_file"></invoke></function_calls>',
        CALL,
        f"[{CALL}]",
        f"```json\n{CALL}\n```",
        f"```\n<tool_call>\n{CALL}\n</tool_call>\n```",
        '{"tool_calls": [{"id": "1"}]}',
        '{"type": "function", "function": {"name": "f"}}',
        '{"action": "search", "action_input": "x"}',
        f"Let me look first.\n<tool_call>\n{CALL}\n</tool_call>",
        f"{GOOD}\n\n<tool_call>\n{CALL}\n</tool_call>",
    ],
)
def test_a_tool_call_in_the_text_is_no_summary(text: str):
    assert check(text) is SummaryFault.TOOL_MARKUP


@pytest.mark.parametrize("text", ["", "Let me look first."])
def test_a_tool_call_beside_the_text_is_no_summary(text: str):
    fault = check(text, tool_calls=({"id": "1"},), finish_reason="tool_calls")

    assert fault is SummaryFault.TOOL_MARKUP


def test_a_whole_summary_with_a_call_beside_it_is_usable():
    assert check(tool_calls=({"id": "1"},), finish_reason="tool_calls") is None


@pytest.mark.parametrize(
    "text",
    [
        f"{GOOD}\n- The parser must read `<tool_call>` tags.",
        f"{GOOD}\n\n```xml\n<tool_call>\n{CALL}\n</tool_call>\n```",
        f"{GOOD}\n\n```xml\n<tool_call>\n{CALL}\n</tool_call>\n```\n\n- and more",
        "## Goal\nParse <tool_call> and <function=x> in answers.\n- done",
        f"{GOOD}\n- sent {CALL} and got 400",
        "## Goal\n<tool_call> is what the user wants parsed.",
        '{"goal": "fix the login", "next_steps": ["test it"]}',
        "The <html> element lost its lang attribute.",
        f"{GOOD}\n- uses `[TOOL_CALLS]` as a marker",
    ],
)
def test_a_summary_that_only_quotes_markup_is_usable(text: str):
    assert check(text) is None


@pytest.mark.parametrize(
    "text", ["<!DOCTYPE html>\n<html></html>", "  <html lang='en'><body></body>"]
)
def test_a_web_page_is_no_summary(text: str):
    assert check(text) is SummaryFault.HTML


@pytest.mark.parametrize("text", ["<tool_call>", "```\n", "[", '{"a":', "`", "<think>"])
def test_hostile_repetition_is_survived(text: str):
    check(text * 30_000)
