"""The messages of a new generation."""

from __future__ import annotations

import pytest

from compaction.engine.messages import Kind, Role
from compaction.engine.outline import outline_of
from compaction.engine.tokens import RoughCounter
from compaction.models import Session
from compaction.store import Generation, load_messages, load_outline, write_generation
from tests.conversations import STARTED, long_work, say, store_session

COUNTER = RoughCounter()


@pytest.fixture
def parent(db):
    return store_session(long_work(6))


@pytest.fixture
def child(parent):
    return Session.objects.create(
        id="child", conversation=parent.conversation, started_at=STARTED
    )


def generation_of(parent, origins, changes):
    """Take messages over by position; `changes` holds new or edited ones by place."""
    before = load_messages(parent)
    messages = [
        changes[place] if place in changes else before[origin]
        for place, origin in enumerate(origins)
    ]
    return Generation(before=before, messages=messages, origins=origins, at=STARTED)


def test_unchanged_messages_are_copied_with_every_column(parent, child):
    row = parent.messages.get(position=4)
    parent.messages.filter(position=4).update(external_id="ext", tokens=77)

    write_generation(child, parent, generation_of(parent, [0, 4], {}), counter=COUNTER)

    copy = child.messages.get(position=1)
    assert (copy.body, copy.text, copy.digest) == (row.body, row.text, row.digest)
    assert (copy.external_id, copy.tokens, copy.at) == ("ext", 77, row.at)
    assert copy.origin_session == parent
    assert copy.origin_position == 4
    assert parent.messages.get(position=4).pk == row.pk


def test_new_and_edited_messages_are_measured(parent, child):
    summary = say(Role.ASSISTANT, "what happened", kind=Kind.SUMMARY)
    noted = load_messages(parent)[0].evolve(content="system, with a note")
    made = generation_of(parent, [0, None, 5], {0: noted, 1: summary})

    written = write_generation(child, parent, made, counter=COUNTER)

    assert written == 3
    assert load_messages(child) == list(made.messages)
    expected = outline_of(made.messages, COUNTER)
    assert load_outline(child).tokens == expected.tokens == child.tokens
    assert child.message_count == 3
    rows = list(child.messages.order_by("position"))
    assert [row.origin_position for row in rows] == [0, None, 5]
    assert [row.kind for row in rows] == ["plain", "summary", "plain"]
    assert rows[1].at == STARTED


def test_the_parent_stays_as_it_was(parent, child):
    before = list(parent.messages.values())

    made = generation_of(parent, list(range(parent.message_count)), {})
    write_generation(child, parent, made, counter=COUNTER)

    assert list(parent.messages.values()) == before
    assert child.message_count == parent.message_count
    assert child.tokens == parent.tokens
