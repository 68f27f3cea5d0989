"""Messages as rows: exact bodies, numbers that plans live on."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from compaction.engine.messages import Kind, Message, Role, ToolCall
from compaction.engine.outline import outline_of
from compaction.engine.tokens import RoughCounter
from compaction.models import Message as MessageRow
from compaction.store import (
    NewMessage,
    load_messages,
    load_outline,
    write_messages,
)
from compaction.store.search_index import find_messages
from compaction.store.search_words import read_query
from tests.conversations import answer, call, long_work, say, store_session

COUNTER = RoughCounter()
PICTURE = {
    "type": "image_url",
    "image_url": {"url": "data:image/png;base64," + "A" * 99},
}

HOSTILE = [
    say(Role.USER, "<script>alert(1)</script> <|endoftext|> \u202e"),
    say(Role.USER, "nul \x00 and half a pair \ud83d"),
    say(Role.ASSISTANT, "a" * 300_000),
    Message(role=Role.USER, content=(PICTURE, {"type": "text", "text": "see"})),
    Message(role=Role.ASSISTANT, content=None, extra={"reasoning": "hm\x00"}),
    Message(
        role=Role.ASSISTANT,
        content="",
        tool_calls=(
            ToolCall(id="i" * 999, name="n\x00" * 300, arguments='{"a": "\ud800"}'),
        ),
    ),
    Message(role=Role.TOOL, content="done", tool_call_id="i" * 999),
    say(Role.ASSISTANT, "summary", kind=Kind.SUMMARY),
    say(Role.ASSISTANT, "own", carried_summary="carried"),
    say(Role.USER, "pinned", pinned=True),
    say(Role.USER, "dropped", dropped=True),
]


def outline_facts(outline):
    return [
        (
            *(f.role, f.kind, f.tokens, f.pruned_tokens, f.chars, f.args_chars),
            *(f.images, f.has_text, len(f.call_ids), f.pinned, f.dropped, f.digest),
        )
        for f in outline.facts
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("messages", [HOSTILE, long_work()], ids=["hostile", "work"])
def test_what_is_written_is_read_back_exactly(messages):
    session = store_session(messages)

    assert load_messages(session) == messages


@pytest.mark.django_db
@pytest.mark.parametrize("messages", [HOSTILE, long_work()], ids=["hostile", "work"])
def test_the_stored_numbers_plan_like_the_messages_themselves(messages):
    stored = load_outline(store_session(messages))
    measured = outline_of(messages, COUNTER)

    assert outline_facts(stored) == outline_facts(measured)
    assert list(stored.cuts) == list(measured.cuts)
    assert stored.tokens == measured.tokens


@pytest.mark.django_db
def test_an_outline_is_read_without_bodies_in_one_query():
    session = store_session(long_work())

    with CaptureQueriesContext(
        connection,
    ) as queries:
        load_outline(session)

    assert len(queries) == 1
    assert '"body"' not in queries[0]["sql"]
    assert '"text"' not in queries[0]["sql"]


@pytest.mark.django_db
def test_a_session_knows_how_large_it_is():
    messages = long_work()
    session = store_session(messages)

    session.refresh_from_db()
    assert session.message_count == len(messages)
    assert session.tokens == outline_of(messages, COUNTER).tokens
    assert session.tokens_origin == "rough"
    last = session.messages.last()
    assert last.cumulative_tokens == session.tokens


@pytest.mark.django_db
def test_appended_messages_go_on_where_the_session_stood():
    messages = long_work()
    session = store_session(messages[:21])
    revision = session.revision

    added = write_messages(
        session, [NewMessage(message=m) for m in messages[21:]], counter=COUNTER
    )

    assert added == len(messages) - 21
    assert load_messages(session) == messages
    assert outline_facts(load_outline(session)) == outline_facts(
        outline_of(messages, COUNTER)
    )
    assert session.revision == revision + 1
    assert session.tokens == load_outline(session).tokens


@pytest.mark.django_db
def test_a_rewound_message_keeps_its_place_and_weighs_nothing():
    session = store_session()
    kept = [say(Role.USER, "one"), say(Role.ASSISTANT, "three")]
    new = [
        NewMessage(message=kept[0]),
        NewMessage(message=call(1), inactive=True),
        NewMessage(message=kept[1]),
    ]
    write_messages(session, new, counter=COUNTER)

    outline = load_outline(session)
    assert [fact.dropped for fact in outline.facts] == [False, True, False]
    assert outline.tokens == outline_of(kept, COUNTER).tokens == session.tokens
    assert outline[1].call_ids == ()
    assert [m.dropped for m in load_messages(session)] == [False, True, False]


@pytest.mark.django_db
def test_a_message_marked_since_it_was_written_is_read_as_marked():
    session = store_session([say(Role.USER, "rule: never push")])
    session.messages.update(pinned=True)

    assert load_messages(session)[0].pinned
    assert load_outline(session).pinned == [0]


@pytest.mark.django_db
def test_what_is_written_can_be_found_by_its_words():
    session = store_session([call(1, "src/orchard.py"), answer(1, "苹果 harvest")])

    found = find_messages(read_query("harvest"), 10)
    assert found == [session.messages.get(position=1).pk]
    assert find_messages(read_query("orchard.py"), 10) == [
        session.messages.get(position=0).pk
    ]


@pytest.mark.django_db
def test_rows_are_inserted_in_batches():
    session = store_session()
    messages = [NewMessage(message=say(Role.USER, f"m{n}")) for n in range(1_200)]

    with CaptureQueriesContext(connection) as queries:
        write_messages(session, messages, counter=COUNTER)

    inserts = [q for q in queries if 'INSERT INTO "compaction_message"' in q["sql"]]
    assert len(inserts) < 100
    assert MessageRow.objects.filter(session=session).count() == 1_200
