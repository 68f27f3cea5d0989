"""Inserting many message rows at once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from compaction.engine.messages import Message as EngineMessage, Role, ToolCall
from compaction.engine.outline import facts_of
from compaction.engine.tokens import RoughCounter
from compaction.models import Message
from compaction.store import NewMessage
from compaction.store.bulk_insert import insert_messages
from compaction.store.message_rows import row_of
from tests.conversations import store_session

pytestmark = pytest.mark.django_db
MOMENT = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)


def rows(session, count=3):
    call = ToolCall(id="c1", name="read", arguments='{"path": "旅行\x00"}')
    message = EngineMessage(role=Role.ASSISTANT, content="hé\ud800", tool_calls=(call,))
    facts = facts_of(message, RoughCounter())
    made = []
    for position in range(count):
        at = MOMENT if position else None
        row = row_of(NewMessage(message=message, at=at, external_id="x"), facts)
        row.session, row.position = session, position
        made.append(row)
    return made


def columns(row):
    fields = (f for f in Message._meta.concrete_fields if f.name != "id")
    return {field.attname: getattr(row, field.attname) for field in fields}


def test_what_is_read_back_is_what_the_ordinary_way_stores():
    fast, ordinary = store_session(), store_session()
    insert_messages(rows(fast))
    Message.objects.bulk_create(rows(ordinary))

    pairs = zip(
        fast.messages.order_by("position"),
        ordinary.messages.order_by("position"),
        strict=True,
    )
    for one, other in pairs:
        assert columns(one) | {"session_id": other.session_id} == columns(other)


def test_the_rows_get_their_keys():
    made = rows(store_session(), count=5)
    insert_messages(made)

    stored = Message.objects.order_by("position").values_list("pk", flat=True)
    assert [row.pk for row in made] == list(stored)
    made[0].pinned = True
    made[0].save()
    assert Message.objects.get(pinned=True).position == 0


def test_a_row_has_a_value_for_every_column():
    (row,) = rows(store_session(), count=1)

    assert not row.get_deferred_fields()


def test_two_messages_never_stand_at_one_place():
    session = store_session()
    insert_messages(rows(session))

    with pytest.raises(Exception, match=r"(?i)unique"):
        insert_messages(rows(session))
