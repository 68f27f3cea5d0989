"""The full-text index over messages: FTS5 on SQLite, a tsvector table on PostgreSQL.

It stands apart from the message table and is written only where a text is written,
so that no change of a state, a pin or a lease ever touches it (hermes#68858). Verbatim
copies in a later session are left out: each text is found once.

The SQLite table is contentless and an entry can only be taken out by handing its old
words back. An entry that outlives its message is harmless: ids are never used twice
and every search joins the messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from django.db import connection

from compaction.models import Message
from compaction.store.search_words import Phrase, search_words

_BATCH = 500
_INSERT = {
    "sqlite": "INSERT INTO compaction_search (rowid, words) VALUES (%s, %s)",
    "postgresql": (
        "INSERT INTO compaction_search (message_id, words) "
        "VALUES (%s, to_tsvector('simple', %s)) "
        "ON CONFLICT (message_id) DO UPDATE SET words = excluded.words"
    ),
}
_FIND = {
    "sqlite": (
        "SELECT rowid FROM compaction_search WHERE words MATCH %s "
        "ORDER BY rowid DESC LIMIT %s"
    ),
    "postgresql": (
        "SELECT message_id FROM compaction_search "
        "WHERE words @@ to_tsquery('simple', %s) ORDER BY message_id DESC LIMIT %s"
    ),
}
_OWN = (
    "IN (SELECT m.id FROM compaction_message m JOIN compaction_session s "
    "ON s.id = m.session_id WHERE s.conversation_id = %s)"
)
_FIND_IN = {
    "sqlite": (
        "SELECT rowid FROM compaction_search WHERE words MATCH %s "
        f"AND rowid {_OWN} ORDER BY rowid DESC LIMIT %s"
    ),
    "postgresql": (
        "SELECT message_id FROM compaction_search "
        "WHERE words @@ to_tsquery('simple', %s) "
        f"AND message_id {_OWN} ORDER BY message_id DESC LIMIT %s"
    ),
}
_FORGET = (
    "INSERT INTO compaction_search (compaction_search, rowid, words) "
    "VALUES ('delete', %s, %s)"
)


def searchable(text: str, calls: Iterable[Sequence[str]]) -> str:
    """Return what can be searched of a message: its text, its calls' names and args."""
    return "\n".join([text, *(f"{call[1]} {call[2]}" for call in calls)])


def index_rows(rows: Iterable[Message]) -> int:
    """Index saved rows that are no copies; return how many."""
    return index_texts(
        (row.pk, searchable(row.text, row.calls))
        for row in rows
        if row.origin_position is None
    )


def index_texts(texts: Iterable[tuple[int, str]]) -> int:
    """Index texts by message id; return how many."""
    entries = ((pk, search_words(text)) for pk, text in texts)
    written = 0
    while batch := list(islice(entries, _BATCH)):
        with connection.cursor() as cursor:
            cursor.executemany(_INSERT[connection.vendor], batch)
        written += len(batch)
    return written


def reindex_text(pk: int, *, before: str, after: str) -> None:
    """Replace the words of one message; `before` is exactly what was indexed."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(_FORGET, [pk, search_words(before)])
    index_texts([(pk, after)])


def find_messages(
    phrases: Sequence[Phrase], limit: int, *, conversation_id: int | None = None
) -> list[int]:
    """Return the ids of messages that hold all phrases: the `limit` newest.

    Of all conversations, or of one alone.
    """
    write = _fts_query if connection.vendor == "sqlite" else _ts_query
    find = _FIND if conversation_id is None else _FIND_IN
    owner = [] if conversation_id is None else [conversation_id]
    with connection.cursor() as cursor:
        cursor.execute(find[connection.vendor], [write(phrases), *owner, limit])
        return [row[0] for row in cursor.fetchall()]


def _fts_query(phrases: Sequence[Phrase]) -> str:
    return " AND ".join(
        f'"{" ".join(phrase.words)}"' + (" *" if phrase.is_open else "")
        for phrase in phrases
    )


def _ts_query(phrases: Sequence[Phrase]) -> str:
    return " & ".join(
        "(" + " <-> ".join(phrase.words) + (":*" if phrase.is_open else "") + ")"
        for phrase in phrases
    )
