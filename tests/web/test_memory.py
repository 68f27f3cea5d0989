"""The memory page: add, edit, remove, bring back, and two who edit at once."""

from __future__ import annotations

import pytest

from compaction.models import MemoryItem
from compaction.services.memory import MemoryEdit, add_memory, edit_memory
from compaction.store.memory import memories_in_force, newest_memory
from tests.web.reading import count_queries, text_of
from tests.web.rows import a_session
from tests.web.run_rows import HOSTILE

pytestmark = pytest.mark.django_db


@pytest.fixture
def session():
    return a_session(source="console", title="Pears")


def address(session, rest=""):
    return f"/sessions/{session.pk}/memory/{rest}"


def change(client, session, **values):
    sent = {"item": 1, "base_version": 1, "text": "Seven.", "button": "save"}
    return client.post(address(session, "change/"), {**sent, **values})


def texts(session):
    return [row.text for row in memories_in_force(session.conversation)]


def test_an_empty_memory_says_what_will_stand_here(as_viewer, session):
    page = text_of(as_viewer.get(address(session)))

    assert "Nothing is remembered yet" in page
    assert "0 of 2,000 tokens" in page


def test_what_is_added_is_shown_as_the_agent_sees_it(as_operator, session):
    response = as_operator.post(address(session, "add/"), {"text": "Seven pears."})
    page = text_of(as_operator.get(address(session)))

    assert response.status_code == 303
    assert page.count("Seven pears.") >= 2
    assert "- Seven pears." in page


def test_over_the_budget_the_oldest_are_marked_as_left_out(as_viewer, session):
    for number in range(6):
        add_memory(session.conversation, f"{number} " + "pear apple plum " * 110)

    page = text_of(as_viewer.get(address(session)))

    assert "left out: over the budget" in page
    assert "of 6" in page


def test_an_edit_makes_a_version_and_a_removal_can_be_undone(as_operator, session):
    add_memory(session.conversation, "Six.")

    change(as_operator, session)
    assert texts(session) == ["Seven."]
    change(as_operator, session, base_version=2, button="remove")
    assert texts(session) == []
    assert "Bring back" in text_of(as_operator.get(address(session)))
    change(as_operator, session, base_version=3, button="")
    assert texts(session) == ["Seven."]
    assert MemoryItem.objects.count() == 4


def test_of_two_editors_the_second_sees_both_texts(as_operator, session, admin):
    add_memory(session.conversation, "Six.")
    edit_memory(
        session.conversation,
        MemoryEdit(item=1, base_version=1, text="Eight.", operator=admin),
    )

    response = change(as_operator, session)

    assert response.status_code == 409
    page = text_of(response)
    assert "Eight." in page
    assert "Seven." in page
    assert texts(session) == ["Eight."]
    change(as_operator, session, base_version=2)
    assert texts(session) == ["Seven."]


@pytest.mark.parametrize(
    ("text", "said"), [(" ", "The text is empty."), ("x" * 2_001, "longer than 2000")]
)
def test_a_text_that_cannot_be_kept_is_refused_in_words(
    as_operator, session, text, said
):
    response = as_operator.post(address(session, "add/"), {"text": text})

    assert response.status_code == 422
    assert said in text_of(response).replace(",", "")


@pytest.mark.parametrize("item", ["99", "x", "-1", "9" * 40])
def test_a_memory_that_is_not_there_is_said_so(as_operator, session, item):
    response = change(as_operator, session, item=item)

    assert response.status_code == 422
    assert "There is no such memory." in text_of(response)


def test_a_viewer_reads_and_changes_nothing(as_viewer, session):
    add_memory(session.conversation, "Six.")

    page = as_viewer.get(address(session)).content.decode()

    assert "Six." in page
    assert "<textarea" not in page
    assert as_viewer.post(address(session, "add/"), {"text": "x"}).status_code == 403
    assert change(as_viewer, session).status_code == 403
    assert newest_memory(session.conversation, 1).version == 1


def test_hostile_text_is_only_text(as_operator, session):
    add_memory(session.conversation, HOSTILE)

    body = as_operator.get(address(session)).content.decode()

    assert "<script>alert(1)" not in body


def test_the_number_of_queries_does_not_grow(as_operator, session, operator):
    add_memory(session.conversation, "One.", operator=operator)
    few = count_queries(as_operator, address(session))
    for number in range(20):
        add_memory(session.conversation, f"More {number}.", operator=operator)

    assert count_queries(as_operator, address(session)) == few
