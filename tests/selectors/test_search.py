"""Search over titles and message texts, on the database under test."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from compaction.models import Conversation, Message, Session
from compaction.selectors.search import (
    Piece,
    cut_snippet,
    search_conversations,
    snippets_for,
)
from compaction.store import search_index
from compaction.store.search_words import read_query

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def make_conversation(*texts, title="", calls=(), copies=()):
    number = Conversation.objects.count() + 1
    conversation = Conversation.objects.create(
        source="test", external_id=f"external-{number}", title=title, active_at=NOON
    )
    session = Session.objects.create(
        id=f"20261130_120000_00000{number}", conversation=conversation, started_at=NOON
    )
    rows = Message.objects.bulk_create(
        Message(
            session=session,
            position=position,
            role="user",
            body="{}",
            text=text,
            calls=list(calls),
            tokens=1,
            pruned_tokens=1,
            origin_position=position if position in copies else None,
        )
        for position, text in enumerate(texts)
    )
    search_index.index_rows(rows)
    return conversation


def ids(query):
    return search_conversations(query).conversation_ids


def test_words_are_found_in_any_order_and_the_last_may_be_unfinished():
    found = make_conversation("The compaction loop reads the same file again.")
    make_conversation("Nothing of the kind.")

    assert ids("loop compaction") == (found.pk,)
    assert ids("compac") == (found.pk,)
    assert ids("compaction elephant") == ()


def test_a_quoted_phrase_must_stand_as_it_is():
    found = make_conversation("exit code 1")
    make_conversation("code of the exit, 1")

    assert ids('"exit code"') == (found.pk,)


@pytest.mark.parametrize("query", ["预算", "旅行计划", "算", "三千元"])
def test_chinese_is_found_by_any_piece_of_it(query):
    found = make_conversation("我们的旅行计划与预算：三千元。")
    make_conversation("计划旅行")

    assert ids(query) == (found.pk,)


def test_identifiers_paths_and_accents_are_found_as_typed():
    found = make_conversation("see compaction/engine/plan.py: head_end, déjà vu")

    for query in ("compaction/engine/plan.py", "head_end", "deja", "DÉJÀ"):
        assert ids(query) == (found.pk,), query


def test_names_and_arguments_of_calls_are_found():
    found = make_conversation("", calls=[["c1", "read_file", '{"path": "notes.md"}']])

    assert ids("read_file notes.md") == (found.pk,)


def test_titles_and_ids_are_found_without_any_message():
    found = make_conversation(title="Fix login bug #2")

    assert ids("login b") == (found.pk,)
    assert ids("20261130_120000") == (found.pk,)
    assert ids("external-") == (found.pk,)


def test_the_newest_hit_comes_first_and_hits_are_counted():
    first = make_conversation("apple", "apple", "pear")
    second = make_conversation("apple")

    found = search_conversations("apple")

    assert found.conversation_ids == (second.pk, first.pk)
    assert found.counts == {first.pk: 2, second.pk: 1}


def test_a_verbatim_copy_in_a_later_session_is_not_a_second_hit():
    found = make_conversation("copied apple", "new", copies={0})

    assert ids("apple") == ()
    assert ids("new") == (found.pk,)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        '"',
        "*",
        "a OR",
        "NEAR(",
        "\x00",
        "\ud800",
        "'; drop table x",
        "(",
        ":",
    ],
)
def test_no_query_is_an_error(query):
    make_conversation("harmless")

    assert ids(query) in ((), tuple(Conversation.objects.values_list("pk", flat=True)))


def test_a_common_word_is_bounded_and_the_answer_says_so(monkeypatch):
    monkeypatch.setattr("compaction.selectors.search.SCANNED", 3)
    make_conversation(*["apple"] * 5)

    found = search_conversations("apple")

    assert found.is_truncated
    assert sum(found.counts.values()) == 3


def test_an_edited_text_is_found_by_its_new_words_only():
    conversation = make_conversation("before")
    row = Message.objects.get()
    before = search_index.searchable(row.text, row.calls)

    search_index.reindex_text(row.pk, before=before, after="after")

    assert ids("before") == ()
    assert ids("after") == (conversation.pk,)


def test_an_entry_that_outlived_its_message_is_not_shown():
    make_conversation("ghost")
    Message.objects.all().delete()

    assert ids("ghost") == ()


def test_a_change_of_state_touches_no_text_index():
    make_conversation("apple")

    with CaptureQueriesContext(
        connection,
    ) as queries:
        Message.objects.update(pinned=True)
        Conversation.objects.update(state="stuck")
        Session.objects.update(revision=2)

    assert not [q for q in queries if "compaction_search" in q["sql"]]
    assert ids("apple")
    assert not triggers_on("compaction_message")


def triggers_on(table):
    """Triggers could write where no query of ours is seen."""
    sql = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type='trigger' AND tbl_name=%s",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal "
        "AND tgrelid = %s::regclass",
    }
    with connection.cursor() as cursor:
        cursor.execute(sql[connection.vendor], [table])
        return cursor.fetchall()


def test_snippets_show_the_first_hit_and_mark_all_of_them():
    conversation = make_conversation(
        "x " * 100 + "the <b>Loop</b> and the loop" + " y" * 100
    )

    found = search_conversations("loop")
    snippet = snippets_for(found, found.conversation_ids)[conversation.pk]

    hits = [piece.text for piece in snippet.pieces if piece.is_hit]
    assert hits == ["Loop", "loop"]
    assert (snippet.position, snippet.role, snippet.count) == (0, "user", 1)
    assert "<b>" in "".join(piece.text for piece in snippet.pieces)


def test_a_hit_that_only_the_index_sees_still_has_a_snippet():
    assert cut_snippet("déjà vu", read_query("deja")) == (Piece(text="déjà vu"),)


def test_the_number_of_queries_does_not_grow_with_the_hits(
    django_assert_max_num_queries,
):
    for _ in range(20):
        make_conversation("apple", title="apple")

    with django_assert_max_num_queries(4):
        found = search_conversations("apple")
        assert len(snippets_for(found, found.conversation_ids)) == 20


SECRET = "hunter2xyz"


def snippet_of(text, query):
    return "".join(piece.text for piece in cut_snippet(text, read_query(query)))


def test_a_snippet_masks_the_secret_beside_what_was_found():
    text = f"Log in to staging with password={SECRET} and look at the queue."

    assert SECRET not in snippet_of(text, "staging")
    assert "staging" in snippet_of(text, "staging")


def test_who_searches_for_a_secret_sees_where_it_stands_and_not_the_secret():
    text = "word " * 400 + f"password={SECRET} " + "word " * 400

    shown = snippet_of(text, SECRET)

    assert "[redacted]" in shown
    assert SECRET not in shown
