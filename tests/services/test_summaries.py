"""Edits of the running summary: shown at once, and the start of the next update."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from compaction.engine.compactor import find_summary
from compaction.engine.messages import Kind, Role
from compaction.engine.phases.summary_text import SUMMARY_PREFIX, wrap_summary
from compaction.models import Conversation, Message, OperatorAction, Session, Summary
from compaction.selectors.search import search_conversations
from compaction.services.audit import verify_chain
from compaction.services.summaries import (
    Refusal,
    SummaryConflict,
    SummaryEdit,
    edit_summary,
    restore_summary,
)
from compaction.store import (
    NewSummary,
    add_summary,
    load_messages,
    load_outline,
    plan_session,
)
from compaction.store.policies import policy_in_force
from tests.conversations import long_work, say, store_session

pytestmark = pytest.mark.django_db

FIRST = "## Goal\nTidy the Orchard.\n\n## Next Steps\n- part 7"
SECOND = "## Goal\nTidy the Orchard.\n\n## Next Steps\n- part 9\n- keep aubergines"


def with_summary(message=None):
    shown = message or say(Role.ASSISTANT, wrap_summary(FIRST), kind=Kind.SUMMARY)
    work = long_work(rounds=4)
    session = store_session([*work[:3], shown, *work[3:]])
    new = NewSummary(text=FIRST, origin=Summary.Origin.IMPORTED, tokens=20)
    add_summary(session, new, previous=None)
    return session


@pytest.fixture
def session():
    return with_summary()


def edit(session, text=SECOND, base=1, operator=None, reason=""):
    wanted = SummaryEdit(text=text, base_revision=base, reason=reason)
    return edit_summary(session, wanted, operator=operator)


def test_an_edit_is_a_new_revision_with_author_reason_and_sections(session, operator):
    saved = edit(session, operator=operator, reason="it forgot part 9")

    assert (saved.revision, saved.origin) == (2, Summary.Origin.EDITED)
    assert (saved.author, saved.reason) == (operator, "it forgot part 9")
    assert saved.previous.revision == 1
    assert saved.sections[1] == ["Next Steps", ["part 9", "keep aubergines"]]


def test_the_sessions_summary_message_shows_the_edited_text(session):
    edit(session)

    message = load_messages(session)[3]
    assert message.text == wrap_summary(SECOND)
    assert message.text.startswith(SUMMARY_PREFIX)
    assert message.kind is Kind.SUMMARY
    assert find_summary(load_messages(session)) == SECOND


def test_the_next_update_starts_from_the_edited_text(session):
    edit(session)

    policy = policy_in_force(session).policy
    planned = plan_session(session, policy, summariser_window=100_000)
    assert planned.plan.situation.previous_summary == SECOND


def test_every_number_follows_the_new_text(session):
    edit(session, text=SECOND + "\n- more" * 200)

    session.refresh_from_db()
    rows = list(Message.objects.filter(session=session).order_by("position"))
    total = 0
    for row in rows:
        total += row.tokens
        assert row.cumulative_tokens == total
    assert session.tokens == total == load_outline(session).tokens
    assert Conversation.objects.get().tokens == total


def test_an_edit_moves_the_revision_so_that_older_plans_do_not_apply(session):
    before = Session.objects.get().revision
    edit(session)

    assert Session.objects.get().revision == before + 1


def test_a_carrier_keeps_its_own_words(operator):
    carrier = say(Role.ASSISTANT, "Part 7 is open.", carried_summary=FIRST)
    session = with_summary(carrier)

    edit(session, operator=operator)

    message = load_messages(session)[3]
    assert message.content == "Part 7 is open."
    assert message.carried_summary == wrap_summary(SECOND)
    assert find_summary(load_messages(session)) == SECOND


def test_who_edits_an_old_revision_gets_both_texts_and_writes_nothing(
    session, operator
):
    edit(session, operator=operator)

    conflict = edit(session, text="## Goal\nlate", base=1, operator=operator)

    assert isinstance(conflict, SummaryConflict)
    assert (conflict.base.text, conflict.theirs.text) == (FIRST, SECOND)
    assert conflict.mine == "## Goal\nlate"
    assert Summary.objects.count() == 2


def test_an_older_revision_can_be_restored(session, operator):
    edit(session, operator=operator)

    restored = restore_summary(session, 1, base_revision=2, operator=operator)

    assert (restored.revision, restored.text) == (3, FIRST)
    assert restored.origin == Summary.Origin.RESTORED
    assert find_summary(load_messages(session)) == FIRST


def test_saving_the_same_text_is_no_edit(session, operator):
    assert edit(session, text=f"\n{FIRST}\n", operator=operator).revision == 1
    assert not OperatorAction.objects.exists()


def test_a_pasted_prefix_does_not_end_up_twice(session):
    saved = edit(session, text=wrap_summary(SECOND))

    assert saved.text == SECOND
    assert load_messages(session)[3].text.count(SUMMARY_PREFIX) == 1


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("  \n", Refusal.BLANK),
        (wrap_summary(""), Refusal.BLANK),
        ("x" * 200_001, Refusal.TOO_LONG),
    ],
)
def test_a_text_that_is_no_summary_is_refused(session, text, refusal):
    assert edit(session, text=text) is refusal
    assert Summary.objects.count() == 1


def test_without_a_summary_there_is_nothing_to_edit():
    assert edit(store_session(long_work(rounds=2))) is Refusal.NO_SUMMARY


def test_foreign_content_that_names_our_field_is_not_taken_for_a_summary():
    parts = ({"type": "text", "text": "hi", "carried_summary": "no"},)
    session = store_session([say(Role.USER, "x").evolve(content=parts)])
    new = NewSummary(text=FIRST, origin=Summary.Origin.IMPORTED, tokens=20)
    add_summary(session, new, previous=None)

    assert edit(session) is Refusal.NO_SUMMARY
    assert load_messages(session)[0].content == parts


def test_a_session_that_went_on_elsewhere_cannot_be_edited(session):
    Session.objects.create(
        id="20261101_100000_abcdef",
        conversation=session.conversation,
        parent=session,
        link=Session.Link.COMPACTION,
        started_at=timezone.now() + timedelta(hours=1),
    )

    assert edit(session) is Refusal.SUPERSEDED


def test_an_unknown_revision_cannot_be_restored(session):
    refused = restore_summary(session, 9, base_revision=1, operator=None)

    assert refused is Refusal.UNKNOWN_REVISION


def test_the_record_holds_both_texts(session, operator):
    edit(session, operator=operator, reason="because")

    action = OperatorAction.objects.get()
    assert (action.verb, action.reason) == ("edit_summary", "because")
    assert (action.before, action.after) == (FIRST, SECOND)
    assert verify_chain().is_whole


def test_search_finds_the_new_words_and_not_the_old_ones(session):
    edit(session)

    assert search_conversations("aubergines").conversation_ids
    assert not search_conversations('"next steps part 7"').conversation_ids


def test_hostile_text_is_made_visible_and_kept(session):
    saved = edit(session, text="## Goal\na\x00b \ud800 <script>")

    assert saved.text == "## Goal\na␀b \ufffd <script>"
