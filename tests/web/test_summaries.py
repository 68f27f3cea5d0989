"""The Summaries page: previous beside updated, edit, restore."""

from __future__ import annotations

import pytest

from compaction.engine.messages import Kind, Message, Role
from compaction.engine.phases.summary_text import wrap_summary
from compaction.models import OperatorAction, Session, Summary
from compaction.selectors.summaries import compare, put_back
from compaction.store import NewSummary, add_summary, load_messages
from tests.conversations import say, store_session
from tests.web.reading import count_queries, text_of
from tests.web.run_rows import HOSTILE

pytestmark = pytest.mark.django_db

FIRST = """## Goal
- Rename every helper.

## Constraints & Preferences
- Keep Python 3.11.
- Do not touch vendor/.

## Progress

### Done
- Read s01.

### In Progress
- Read s02."""
SECOND = """## Goal
- Rename every helper.

## Constraints & Preferences
- Do not touch vendor/.

## Progress

### Done
- Read s01.
- Read s02.

## Critical Context
- Local endpoint listens on port 8471."""


def a_summarised_session(*texts: str, **values) -> Session:
    """Store a session whose summary has these revisions, the last in force."""
    texts = texts or (FIRST, SECOND)
    messages = [
        say(Role.SYSTEM, "You tidy."),
        Message(
            role=Role.ASSISTANT, content=wrap_summary(texts[-1]), kind=Kind.SUMMARY
        ),
        say(Role.USER, "Go on."),
    ]
    session = store_session(messages, **values)
    previous = None
    for number, text in enumerate(texts, 1):
        new = NewSummary(
            text=text,
            origin=Summary.Origin.GENERATED,
            tokens=10 * number,
            model="gpt-5-nano",
        )
        previous = add_summary(session, new, previous=previous)
    return session


def address_of(session: Session, part: str = "") -> str:
    return f"/sessions/{session.pk}/summaries/{part}"


def summary_message(session: Session) -> str:
    found = [m for m in load_messages(session) if m.kind is Kind.SUMMARY]
    return found[0].text


class TestCompare:
    def test_every_item_is_told_by_what_became_of_it(self):
        counts = compare(FIRST, SECOND).counts

        assert counts == {
            "kept": 3,
            "added": 1,
            "dropped": 1,
            "moved": 1,
            "reworded": 0,
        }

    def test_a_moved_item_stands_on_both_sides_under_its_own_heading(self):
        sections = {s.heading: s for s in compare(FIRST, SECOND).sections}

        left = [line.text for line in sections["Progress · In Progress"].before]
        right = [(line.text, line.change) for line in sections["Progress · Done"].after]
        assert left == ["Read s02."]
        assert ("Read s02.", "moved") in right

    def test_a_dropped_item_is_put_back_under_its_heading(self):
        text = put_back(FIRST, SECOND, 0)

        assert compare(FIRST, text).counts["dropped"] == 0
        assert compare(SECOND, text).counts["added"] == 1
        assert "- Keep Python 3.11." in text

    def test_a_place_that_is_not_there_changes_nothing(self):
        assert put_back(FIRST, SECOND, 7) == SECOND


class TestPage:
    def test_previous_stands_beside_updated(self, as_viewer):
        page = text_of(as_viewer.get(address_of(a_summarised_session())))

        assert "Revision 1 · before" in page
        assert "Revision 2 · in force" in page
        assert "1 dropped" in page
        assert "written by gpt-5-nano" in page

    def test_without_a_summary_it_says_when_one_appears(self, as_viewer):
        session = store_session([say(Role.USER, "Hello.")])

        assert "No summary yet" in text_of(as_viewer.get(address_of(session)))

    def test_the_first_summary_stands_alone(self, as_viewer):
        page = text_of(as_viewer.get(address_of(a_summarised_session(FIRST))))

        assert "nothing to compare it with" in page
        assert "Keep Python 3.11." in page
        assert "added" not in page

    def test_much_that_was_kept_is_folded_and_what_changed_is_not(self, as_viewer):
        many = "\n".join(f"- Item {n}." for n in range(30))
        session = a_summarised_session(
            f"## Goal\n{many}", f"## Goal\n{many}\n- A new one."
        )

        page = as_viewer.get(address_of(session)).content.decode()

        folded = page[page.index('<details class="disclosure kept-items"') :]
        assert "30 items kept as they were" in folded
        assert "A new one." in page
        assert "A new one." not in folded

    def test_any_two_revisions_can_be_compared(self, as_viewer):
        session = a_summarised_session("## Goal\n- A", "## Goal\n- B", "## Goal\n- C")

        shown = as_viewer.get(address_of(session, "?revision=3&against=1"))

        assert shown.context["summaries"].against.text == "## Goal\n- A"
        assert shown.context["summaries"].shown.text == "## Goal\n- C"

    def test_a_number_that_is_none_shows_the_newest(self, as_viewer):
        session = a_summarised_session()

        shown = as_viewer.get(address_of(session, "?revision=x&against=99999999999"))

        assert shown.context["summaries"].shown.revision == 2

    def test_a_viewer_sees_no_way_to_change_it(self, as_viewer):
        page = as_viewer.get(address_of(a_summarised_session())).content.decode()

        assert "/summaries/edit/" not in page
        assert "Restore" not in page

    def test_a_stranger_finds_nothing(self, as_stranger):
        session = a_summarised_session()

        for part in ("", "edit/"):
            assert as_stranger.get(address_of(session, part)).status_code == 404

    def test_hostile_text_is_shown_and_does_nothing(self, as_operator):
        session = a_summarised_session(f"## {HOSTILE}\n- a", f"## {HOSTILE}\n- b")

        for part in ("", "edit/"):
            page = as_operator.get(address_of(session, part)).content.decode()
            assert "<script>alert" not in page
            assert "&lt;script&gt;alert" in page

    def test_more_revisions_cost_no_more_queries(self, as_operator):
        few = a_summarised_session("a", "b")
        many = a_summarised_session(*(f"## Goal\n- {n}" for n in range(20)))

        assert count_queries(as_operator, address_of(few)) == count_queries(
            as_operator, address_of(many)
        )


class TestEdit:
    def test_an_edit_is_the_newest_revision_and_stands_in_the_messages(
        self, as_operator
    ):
        session = a_summarised_session()
        change = {"text": "## Goal\r\n- New.", "base_revision": 2, "reason": "wrong"}

        response = as_operator.post(address_of(session, "edit/"), change)

        assert response.status_code == 303
        newest = Summary.objects.order_by("-revision").first()
        assert (newest.origin, newest.text) == ("edited", "## Goal\n- New.")
        assert "- New." in summary_message(session)
        assert OperatorAction.objects.get().reason == "wrong"

    def test_the_page_says_that_the_edited_text_counts(self, as_operator):
        session = a_summarised_session()
        change = {"text": "## Goal\n- New.", "base_revision": 2}

        page = as_operator.post(address_of(session, "edit/"), change, follow=True)

        assert "in the words of an operator" in text_of(page)

    def test_two_who_edit_at_once_get_a_conflict_and_nothing_is_overwritten(
        self, as_operator
    ):
        session = a_summarised_session()
        address = address_of(session, "edit/")
        as_operator.post(address, {"text": "## Goal\n- Theirs.", "base_revision": 2})

        late = as_operator.post(
            address, {"text": "## Goal\n- Mine.", "base_revision": 2}
        )

        assert late.status_code == 409
        assert "Theirs." in text_of(late)
        assert "Mine." in late.content.decode()
        assert Summary.objects.order_by("-revision").first().text.endswith("Theirs.")

    def test_after_a_conflict_both_can_be_brought_together(self, as_operator):
        session = a_summarised_session()
        address = address_of(session, "edit/")
        as_operator.post(address, {"text": "## Goal\n- Theirs.", "base_revision": 2})
        late = as_operator.post(
            address, {"text": "## Goal\n- Mine.", "base_revision": 2}
        )
        base = late.context["form"]["base_revision"].value()

        done = as_operator.post(
            address, {"text": "## Goal\n- Both.", "base_revision": base}
        )

        assert done.status_code == 303
        assert Summary.objects.order_by("-revision").first().text.endswith("Both.")

    def test_showing_what_it_changes_writes_nothing(self, as_operator):
        session = a_summarised_session()
        change = {"text": "## Goal\n- New.", "base_revision": 2, "preview": "1"}

        page = as_operator.post(address_of(session, "edit/"), change)

        assert page.status_code == 200
        assert page.context["comparison"].counts["added"] == 1
        assert Summary.objects.count() == 2

    def test_an_empty_text_is_refused_at_the_field(self, as_operator):
        session = a_summarised_session()

        page = as_operator.post(
            address_of(session, "edit/"), {"text": "", "base_revision": 2}
        )

        assert page.status_code == 422
        assert page.context["form"].errors["text"]

    def test_a_dropped_item_waits_in_the_form_to_be_put_back(self, as_operator):
        session = a_summarised_session()

        page = as_operator.get(address_of(session, "edit/?put_back=0&against=1"))

        assert "Keep Python 3.11." in page.context["form"]["text"].value()
        assert Summary.objects.count() == 2

    def test_an_older_revision_is_restored(self, as_operator):
        session = a_summarised_session()
        wanted = {"revision": 1, "base_revision": 2}

        as_operator.post(address_of(session, "restore/"), wanted)

        newest = Summary.objects.order_by("-revision").first()
        assert (newest.origin, newest.text) == ("restored", FIRST)
        assert "Keep Python 3.11." in summary_message(session)

    def test_a_viewer_may_neither_edit_nor_restore(self, as_viewer):
        session = a_summarised_session()

        assert as_viewer.get(address_of(session, "edit/")).status_code == 403
        for part in ("edit/", "restore/"):
            assert as_viewer.post(address_of(session, part)).status_code == 403
        assert Summary.objects.count() == 2
