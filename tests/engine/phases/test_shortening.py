"""How one message is shortened: what ran, how it ended, how large it was."""

from __future__ import annotations

import json

import pytest

from compaction.engine.messages import from_dict
from compaction.engine.phases.shortening import (
    PruneOptions,
    fact_line,
    main_argument,
    pruned_message,
    status_of,
)
from compaction.engine.policy import PruneForm
from tests.engine.builders import assistant, call, result, user

LONG = "line of output\n" * 100


def test_a_long_result_becomes_one_line_about_it():
    short = pruned_message(result("c", LONG), call=call("c", "bash", command="make"))

    assert short.text == "[bash] make -> 101 lines, 1,500 chars"
    assert short.tool_call_id == "c"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("all good\nexit code: 0", "exit 0"),
        ('{"exit_code": 2, "output": ""}', "exit 2"),
        ("Process exited with code 137", "exit 137"),
        ("Traceback (most recent call last):\n  boom", "traceback"),
        ("bash: foo: command not found", "not found"),
        ("操作失败", "失败"),
        ("plain words", ""),
    ],
)
def test_the_way_it_ended_stays(text, status):
    """hermes#112710: a shortened stub showed a failure as a success."""
    assert status_of(text) == status


def test_a_failure_at_the_end_of_a_long_output_is_seen():
    text = "x\n" * 5_000 + "error: disk full"

    assert status_of(text) == "error"


def test_a_short_result_is_left_alone():
    short = result("c", "x" * 200)

    assert pruned_message(short) is short


def test_the_placeholder_form_says_only_that_something_was_there():
    options = PruneOptions(form=PruneForm.PLACEHOLDER)

    assert pruned_message(result("c", LONG), options=options).text == (
        "[Old tool output cleared to save context space]"
    )


def test_a_pinned_message_is_never_shortened():
    pinned = result("c", LONG).evolve(pinned=True)

    assert pruned_message(pinned) is pinned


def test_long_arguments_stay_valid_json():
    """hermes#13574: arguments cut in the middle of a string poisoned the history."""
    turn = assistant("", calls=[call("c", "write", path="a.md", content='"x" ' * 900)])

    shorter = pruned_message(turn).tool_calls[0].arguments

    assert json.loads(shorter)["path"] == "a.md"
    assert len(shorter) < 400


def test_broken_arguments_stay_as_they_were():
    broken = from_dict(
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "c",
                    "function": {"name": "f", "arguments": '{"a": "' + "x" * 999},
                }
            ],
        }
    )

    assert pruned_message(broken) is broken


def test_deeply_nested_arguments_raise_nothing():
    deep = "[" * 100_000 + "]" * 100_000
    turn = from_dict(
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": deep}}],
        }
    )

    assert pruned_message(turn) is turn


def test_an_old_picture_becomes_a_label():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,A"}}
    message = from_dict({"role": "user", "content": [picture]})

    shorter = pruned_message(message)

    assert shorter.image_count == 0
    assert "image removed" in shorter.text


def test_a_plain_turn_is_left_alone():
    turn = user("x" * 5_000)

    assert pruned_message(turn) is turn


@pytest.mark.parametrize(
    ("arguments", "main"),
    [
        ('{"path": "a.py", "limit": 3}', "a.py"),
        ('{"command": "make\\n  test"}', "make test"),
        ('{"odd": 1}', '{"odd": 1}'),
        ("not json", "not json"),
        ("{}", ""),
    ],
)
def test_the_argument_that_tells_most_is_named(arguments, main):
    assert main_argument(arguments) == main


def test_a_fact_never_grows_without_bound():
    line = fact_line("x" * 10_000, call("c", "bash", command="y" * 5_000))

    assert len(line) < 250
