"""What is measured with: the same every time, sound, and shaped like real logs."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from statistics import mean

import pytest

from bench.inputs import Conversation, Shape, make_messages
from bench.redaction_rows import HOSTILE, SECRETS
from bench.state_db import copy_plainly, write_state_db
from compaction.engine.phases.redaction import redact
from compaction.engine.validation import validate

SHAPE = Shape(messages=2_000, chars=200)


def test_the_same_seed_makes_the_same_messages():
    assert list(make_messages(SHAPE)) == list(make_messages(SHAPE))
    assert list(make_messages(SHAPE)) != list(make_messages(SHAPE, seed=1))


@pytest.mark.parametrize("chars", [200, 2_000])
def test_messages_have_the_length_that_is_asked_for_on_average(chars):
    messages = list(make_messages(Shape(messages=2_000, chars=chars)))

    assert len(messages) == 2_000
    assert mean(len(m["content"]) for m in messages) == pytest.approx(chars, rel=0.15)


def test_most_of_the_text_is_the_output_of_tools(tmp_path):
    by_role: dict[str, int] = {}
    for message in make_messages(SHAPE):
        chars = len(message["content"])
        by_role[message["role"]] = by_role.get(message["role"], 0) + chars

    assert by_role["tool"] > 0.6 * sum(by_role.values())


def test_no_provider_would_refuse_such_a_conversation(tmp_path):
    made = Conversation(SHAPE, tmp_path / "made.json").messages
    answered = [m for m in made if m.is_result]
    while made[-1].tool_calls:  # cut off between a call and its result
        made = made[:-1]

    assert answered
    assert not [found for found in validate(made) if found.is_error]


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_texts_hold_no_secret(part):
    assert redact(part * 50) == part * 50


@pytest.mark.parametrize("part", SECRETS)
def test_texts_of_secrets_hold_secrets(part):
    assert redact(part * 3) != part * 3


def test_a_state_db_has_as_many_messages_as_asked_for_and_is_copied_whole(tmp_path):
    source = write_state_db(tmp_path / "state.db", 2_500)
    total = copy_plainly(source, tmp_path / "copy.db", len)

    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        (count, chars), *_ = copy.execute(
            "SELECT count(*), sum(length(content) + coalesce(length(tool_calls), 0)"
            " + coalesce(length(tool_call_id), 0)) FROM messages"
        )
    assert (count, chars) == (2_500, total)
