"""Importing one conversation: first, again, grown, changed, beside our own work."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.core import serializers
from django.db import DatabaseError
from django.db.models import F

from compaction.engine.messages import Message as EngineMessage, Role, to_dict
from compaction.engine.outline import outline_of
from compaction.engine.task_state import TaskState, Todo, TodoStatus
from compaction.models import (
    Conversation,
    Cooldown,
    Message,
    Session,
    Summary,
    TokenCountCache,
)
from compaction.services.conversations import refresh_conversation
from compaction.services.imports import conversations, writing
from compaction.services.imports.conversations import Change
from compaction.services.summaries import SummaryEdit, edit_summary
from compaction.services.task_states import save_task_state
from compaction.sources.values import SourceCooldown, SourceMessage
from compaction.store import load_messages, load_outline, summary_in_force
from compaction.store.task_states import newest_task_version
from compaction.wiring import get_counter
from tests.services.foreign import (
    NOW,
    at,
    bring_in,
    conversation,
    said,
    session,
    summary_message,
    talk,
    tool_round,
)

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=5)


def rows_of_everything():
    """Every stored row of a conversation, byte for byte."""
    models = (Conversation, Session, Message, Summary, Cooldown, TokenCountCache)
    return [serializers.serialize("json", m.objects.order_by("pk")) for m in models]


def texts(session_id):
    rows = Message.objects.filter(session_id=session_id).order_by("position")
    return list(rows.values_list("text", flat=True))


def compact_locally(parent):
    """What a run leaves behind: a continuation of our own, and an ended parent."""
    child = Session.objects.create(
        id="20261130_110000_c0ffee",
        conversation=parent.conversation,
        parent=parent,
        link=Session.Link.COMPACTION,
        generation=parent.generation + 1,
        started_at=NOW,
        compactions=parent.compactions + 1,
    )
    parent.ended_at, parent.end_reason = NOW, "compression"
    parent.save()
    Conversation.objects.update(tip=child)
    return child


# --- first -------------------------------------------------------------------
def test_a_new_conversation_is_stored_with_all_its_messages():
    imported = bring_in(conversation(session(talk(6))))

    stored = Conversation.objects.get()
    assert (imported.change, imported.messages) == (Change.NEW, 6)
    assert (stored.title, stored.agent, stored.model) == (
        "An invented talk",
        "Hermes Agent",
        "gpt-4o",
    )
    assert stored.imported_from == "state.db"
    assert texts(stored.tip_id) == [f"message {n} of the talk" for n in range(6)]


def test_a_title_is_stored_without_the_secrets_in_it():
    secret = replace(
        conversation(session(talk(2))), title="deploy, password=hunter2xyz"
    )
    bring_in(secret)
    again = bring_in(secret)

    stored = Conversation.objects.get()
    assert stored.title == "deploy, password=[redacted]"
    assert again.change == Change.UNCHANGED


def test_the_stored_messages_are_the_foreign_ones_word_for_word():
    source = conversation(session((*talk(2), *tool_round(2, "x" * 500), said(4))))
    bring_in(source)

    stored = [to_dict(m) for m in load_messages(Session.objects.get())]
    assert stored == [to_dict(item.message) for item in source.sessions[0].messages]


def test_the_numbers_are_those_of_the_counter():
    source = conversation(session((*talk(2), *tool_round(2, "line\n" * 400), said(4))))
    bring_in(source)

    counted = outline_of(
        [item.message for item in source.sessions[0].messages], get_counter("gpt-4o")
    )
    assert load_outline(Session.objects.get()).facts == counted.facts
    assert Session.objects.get().tokens == counted.tokens
    assert Message.objects.latest("position").cumulative_tokens == counted.tokens


def test_the_row_of_the_list_is_filled_without_another_step():
    source = conversation(session(talk(6), system_prompt="Be brief. " * 50))
    bring_in(source)

    stored = Conversation.objects.get()
    assert stored.message_count == 6
    assert stored.tokens == sum(stored.bands.values()) > stored.bands["system"] > 100
    assert stored.threshold == 64_000
    assert stored.fill == pytest.approx(stored.tokens / 128_000)
    assert stored.active_at == at(5)


@pytest.mark.parametrize("count", [0, 1, 7])
def test_the_row_of_the_list_is_what_a_fresh_look_at_the_rows_gives(count):
    messages = (*talk(count), *tool_round(20, "x" * 900), said(22, inactive=True))
    bring_in(conversation(session(messages), session(messages, 2)))
    stored = Conversation.objects.get()
    before = Conversation.objects.values().get()

    refresh_conversation(stored)

    assert Conversation.objects.values().get() == before


def test_a_declared_window_is_kept_and_an_assumed_one_is_marked():
    bring_in(conversation(session(talk(2)), window=32_000))
    bring_in(conversation(session(talk(2)), external_id="other", model="glm-4.7"))

    declared, assumed = Conversation.objects.order_by("pk")
    assert (declared.window, declared.window_is_declared) == (32_000, True)
    assert (assumed.window, assumed.window_is_declared) == (200_000, False)


def test_what_the_provider_measured_counts_with_what_came_after_it():
    messages = (*talk(4), said(5, "answer " * 50), said(6, "more"))
    measured = replace(messages[4], usage_tokens=9_000)
    bring_in(
        conversation(
            session((*messages[:4], measured, messages[5]), usage_tokens=9_000)
        )
    )

    stored = Conversation.objects.get()
    after = Message.objects.filter(position__gte=4)
    assert stored.tokens == 9_000 + sum(after.values_list("tokens", flat=True))
    assert stored.tokens_origin == "provider"


def test_an_id_of_our_form_is_kept_and_another_is_derived_from_the_log():
    bring_in(conversation(session(talk(2), external_id="20261120_080000_abc123")))
    bring_in(conversation(session(talk(2)), external_id="other"))
    bring_in(conversation(session(talk(2)), external_id="third"))

    ids = set(Session.objects.values_list("pk", flat=True))
    assert "20261120_080000_abc123" in ids
    assert len(ids) == 3
    assert all(pk.startswith("20261120_080") for pk in ids)


def test_the_same_log_gets_the_same_ids_in_another_database():
    source = conversation(session(talk(2)), session(talk(3), 2))
    bring_in(source)
    first = set(Session.objects.values_list("pk", flat=True))
    Conversation.objects.update(tip=None)
    Session.objects.filter(parent__isnull=False).delete()
    Conversation.objects.all().delete()

    bring_in(source, now=LATER)

    assert set(Session.objects.values_list("pk", flat=True)) == first


def lineage():
    second = (
        said(0, origin=0),
        summary_message("## Goal\nThe first part."),
        said(8),
        said(9),
    )
    third = (summary_message("## Goal\nBoth parts."), said(9, origin=3), said(10))
    return conversation(
        session(talk(8), ended_at=at(8), end_reason="compression"),
        session(second, 2, summary="## Goal\nThe first part.", ended_at=at(10)),
        session(third, 3, summary="## Goal\nBoth parts.", usage_tokens=None),
    )


def test_a_lineage_keeps_its_chain_origins_and_summaries():
    bring_in(lineage())

    first, second, third = Session.objects.order_by("generation")
    assert (second.parent, third.parent) == (first, second)
    assert [s.compactions for s in (first, second, third)] == [0, 1, 2]
    assert Conversation.objects.get().tip == third
    copied = second.messages.get(position=0)
    assert (copied.origin_session, copied.origin_position) == (first, 0)
    one, two = Summary.objects.order_by("revision")
    assert (one.session, two.session, two.previous) == (second, third, one)
    assert one.origin == Summary.Origin.IMPORTED
    assert one.created_at == second.started_at
    assert two.sections == [["Goal", ["Both parts."]]]


def test_todos_and_goal_become_the_agents_task_state():
    todos = (
        {"id": "a", "subject": "read s01", "status": "completed"},
        {"id": "a", "subject": "read s02", "status": "odd"},
        {"id": "b", "subject": "  "},
    )
    bring_in(conversation(session(talk(2)), task_goal="Read all", todos=todos))

    newest = newest_task_version(Conversation.objects.get())
    assert newest.by_agent
    assert newest.state.goal == "Read all"
    assert [(t.id, t.status) for t in newest.state.todos] == [
        ("a", TodoStatus.COMPLETED),
        ("a-1", TodoStatus.PENDING),
    ]


def test_the_agents_cooldown_becomes_ours_and_ends_with_it():
    until = NOW + timedelta(minutes=4)
    cooling = SourceCooldown(until=until, error="429 from the summariser", failures=2)
    bring_in(conversation(session(talk(2), cooldown=cooling)))

    rung = Cooldown.objects.get()
    assert (rung.until, rung.failures, rung.seconds) == (until, 2, 300)
    assert rung.error == "429 from the summariser"

    again = bring_in(conversation(session(talk(2))), now=NOW + timedelta(minutes=1))
    rung.refresh_from_db()
    assert again.change is Change.NOTED
    assert rung.cleared_why == "source"


# --- again -------------------------------------------------------------------
def test_importing_twice_changes_not_one_byte():
    source = replace(lineage(), task_goal="Read", notes=("orphan_result:2",))
    bring_in(source)
    before = rows_of_everything()

    again = bring_in(source, now=LATER, label="another-name.db")

    assert again.change is Change.UNCHANGED
    assert rows_of_everything() == before


def test_an_older_copy_of_a_grown_file_changes_nothing():
    bring_in(lineage())
    before = rows_of_everything()
    older = conversation(session(talk(5)), title="Older title")

    assert bring_in(older, now=LATER).change is Change.UNCHANGED
    assert rows_of_everything() == before


def test_a_text_that_was_counted_once_is_looked_up():
    long_text = "words and more words " * 300
    bring_in(conversation(session((said(0, long_text),))))
    cached = TokenCountCache.objects.filter(encoding="o200k_base")
    assert cached.count() == 1
    cached.update(tokens=77_777)

    bring_in(conversation(session((said(0, long_text),)), external_id="other"))

    assert Message.objects.latest("pk").tokens == 77_777 + 4


# --- grown -------------------------------------------------------------------
def test_a_copy_that_was_continued_here_goes_its_own_way():
    made = bring_in(conversation(session(talk(5)))).conversation
    Conversation.objects.update(may_continue=True)

    grown = bring_in(conversation(session(talk(7))), now=LATER)

    assert grown.change is Change.UNCHANGED
    assert made.tip.messages.count() == 5


def test_new_messages_are_appended_to_the_tip():
    bring_in(conversation(session(talk(4))))
    before = list(Message.objects.values())

    grown = bring_in(conversation(session(talk(7))), now=LATER)

    tip = Session.objects.get()
    assert (grown.change, grown.messages) == (Change.GROWN, 3)
    assert list(Message.objects.filter(position__lt=4).values()) == before
    assert texts(tip.pk) == [f"message {n} of the talk" for n in range(7)]
    assert tip.revision == 2
    assert Conversation.objects.get().message_count == 7
    assert Conversation.objects.get().active_at == at(6)


def test_a_grown_session_has_the_numbers_of_one_imported_whole():
    messages = (*talk(2), *tool_round(2, "x" * 900), *tool_round(4, "y" * 900), said(6))
    for count in (3, 5, 7):  # the second import begins with the result of a call
        bring_in(conversation(session(messages[:count])))
    bring_in(conversation(session(messages), external_id="whole"))

    grown, whole = (
        list(s.messages.order_by("position").values(*NUMBERS))
        for s in Session.objects.order_by("conversation_id")
    )
    assert grown == whole
    sizes = Session.objects.values_list("tokens", "message_count")
    assert len(set(sizes)) == 1


NUMBERS = ("body", "tokens", "pruned_tokens", "cumulative_tokens", "digest", "text")


def test_a_new_generation_becomes_the_tip_and_the_old_one_ends():
    bring_in(conversation(session(talk(8))))

    bring_in(lineage(), now=LATER)

    first, _, third = Session.objects.order_by("generation")
    assert first.end_reason == "compression"
    assert Conversation.objects.get().tip == third
    assert Summary.objects.count() == 2


def test_an_ending_alone_is_noted_without_a_new_message():
    bring_in(conversation(session(talk(4))))

    ended = conversation(session(talk(4), ended_at=at(9), end_reason="agent_close"))
    imported = bring_in(ended, now=LATER)

    stored = Session.objects.get()
    assert (imported.change, imported.messages) == (Change.NOTED, 0)
    assert (stored.ended_at, stored.revision) == (at(9), 1)
    assert Conversation.objects.get().state == Conversation.State.ENDED


def test_messages_the_agent_took_back_stay_but_weigh_nothing():
    bring_in(conversation(session(talk(6))))
    taken_back = tuple(said(n, inactive=n >= 4) for n in range(6))

    imported = bring_in(conversation(session((*taken_back, said(6)))), now=LATER)

    stored = Session.objects.get()
    active = stored.messages.filter(inactive=False)
    assert imported.change is Change.GROWN
    assert stored.messages.count() == 7
    assert stored.tokens == sum(active.values_list("tokens", flat=True))
    assert stored.tokens == stored.messages.latest("position").cumulative_tokens
    assert (
        bring_in(conversation(session((*taken_back, said(6)))), now=LATER).change
        is Change.UNCHANGED
    )


# --- changed -----------------------------------------------------------------
def test_a_past_that_reads_otherwise_becomes_a_branch_and_ours_stays():
    bring_in(conversation(session(talk(6))))
    ours = Session.objects.get()
    before = list(ours.messages.values())
    changed = (*talk(3), said(3, "rewritten"), said(4))

    imported = bring_in(conversation(session(changed)), now=LATER)

    ours.refresh_from_db()
    branch = Session.objects.exclude(pk=ours.pk).get()
    stored = Conversation.objects.get()
    assert imported.branches == 1
    assert list(ours.messages.values()) == before
    assert (branch.parent, branch.link) == (ours, Session.Link.BRANCH)
    assert texts(branch.pk)[3] == "rewritten"
    assert list(branch.messages.values_list("origin_position", flat=True)) == [
        *(0, 1, 2),
        *(None, None),
    ]
    assert stored.tip == branch
    assert stored.import_notes == [f"branched:{branch.pk}@3"]


def test_the_changed_file_is_known_from_then_on():
    bring_in(conversation(session(talk(6))))
    changed = (*talk(3), said(3, "rewritten"), said(4))
    bring_in(conversation(session(changed)), now=LATER)
    before = rows_of_everything()

    assert bring_in(conversation(session(changed))).change is Change.UNCHANGED
    assert rows_of_everything() == before

    bring_in(conversation(session((*changed, said(5)))), now=LATER)
    assert Session.objects.count() == 2
    assert texts(Conversation.objects.get().tip_id)[-1] == "message 5 of the talk"


def test_a_pin_or_an_edited_summary_of_ours_is_no_change_of_the_log():
    source = lineage()
    bring_in(source)
    tip = Conversation.objects.get().tip
    Message.objects.filter(session=tip, position=1).update(pinned=True)
    wanted = SummaryEdit(text="## Goal\nOurs.", base_revision=2)
    edit_summary(tip, wanted, operator=None)

    assert bring_in(source, now=LATER).change is Change.UNCHANGED
    grown = replace(
        source.sessions[2], messages=(*source.sessions[2].messages, said(11))
    )
    bring_in(replace(source, sessions=(*source.sessions[:2], grown)), now=LATER)

    tip.refresh_from_db()
    assert Session.objects.count() == 3
    assert texts(tip.pk)[-1] == "message 11 of the talk"
    assert tip.tokens == load_outline(tip).tokens
    assert summary_in_force(tip).text == "## Goal\nOurs."


# --- beside our own compaction -----------------------------------------------
def test_while_the_log_stands_still_our_compaction_stays_the_tip():
    source = conversation(session(talk(6)))
    bring_in(source)
    ours = compact_locally(Session.objects.get())
    before = rows_of_everything()

    assert bring_in(source, now=LATER).change is Change.UNCHANGED
    assert rows_of_everything() == before
    assert Conversation.objects.get().tip == ours


def test_a_new_title_does_not_reopen_the_session_we_compacted():
    bring_in(conversation(session(talk(6))))
    ours = compact_locally(Session.objects.get(external_id="talk-1"))

    renamed = bring_in(conversation(session(talk(6)), title="Renamed"), now=LATER)

    mirrored = Session.objects.get(external_id="talk-1")
    assert renamed.change is Change.NOTED
    assert (mirrored.ended_at, mirrored.end_reason) == (NOW, "compression")
    assert Conversation.objects.get().title == "Renamed"
    assert Conversation.objects.get().tip == ours


def test_a_log_that_grew_past_our_compaction_goes_on_in_its_own_session():
    bring_in(conversation(session(talk(6))))
    mirrored = Session.objects.get()
    ours = compact_locally(mirrored)
    Message.objects.create(
        session=ours, position=0, role="user", body="{}", tokens=1, pruned_tokens=1
    )

    bring_in(conversation(session(talk(9))), now=LATER)

    mirrored.refresh_from_db()
    ours.refresh_from_db()
    stored = Conversation.objects.get()
    assert (ours.link, ours.parent) == (Session.Link.BRANCH, mirrored)
    assert ours.messages.count() == 1
    assert (mirrored.messages.count(), mirrored.ended_at) == (9, None)
    assert stored.tip == mirrored
    assert stored.import_notes == [f"local_branch:{ours.pk}"]


def test_the_agents_own_compaction_takes_the_place_of_ours():
    bring_in(conversation(session(talk(8))))
    mirrored = Session.objects.get()
    ours = compact_locally(mirrored)

    bring_in(lineage(), now=LATER)

    ours.refresh_from_db()
    theirs = Session.objects.get(external_id="talk-2")
    assert (theirs.parent, theirs.link) == (mirrored, Session.Link.COMPACTION)
    assert ours.link == Session.Link.BRANCH
    assert Session.objects.count() == 4


def test_a_session_we_wrote_into_ourselves_is_not_written_into_by_a_log():
    bring_in(conversation(session(talk(4))))
    ours = Session.objects.get()
    Message.objects.create(
        session=ours,
        position=4,
        role="user",
        body="{}",
        tokens=1,
        pruned_tokens=1,
        text="our own question",
    )

    bring_in(conversation(session(talk(6))), now=LATER)

    branch = Session.objects.exclude(pk=ours.pk).get()
    assert texts(ours.pk)[-1] == "our own question"
    assert texts(branch.pk) == [f"message {n} of the talk" for n in range(6)]


def test_an_operators_task_state_is_kept_against_a_grown_log(operator):
    todos = ({"id": "1", "subject": "read s01", "status": "pending"},)
    bring_in(conversation(session(talk(2)), todos=todos))
    stored = Conversation.objects.get()
    mine = TaskState(goal="mine", todos=(Todo(id="1", subject="read s01"),))
    save_task_state(stored, mine, base_version=1, operator=operator)

    done = ({"id": "1", "subject": "read s01", "status": "completed"},)
    grown = conversation(session(talk(4)), todos=done)
    bring_in(grown, now=LATER)

    stored.refresh_from_db()
    assert newest_task_version(stored).state == mine
    assert "task_state_kept" in stored.import_notes
    assert bring_in(grown, now=LATER).change is Change.UNCHANGED


def test_the_agents_progress_is_taken_over():
    def todo(status):
        return ({"id": "1", "subject": "read s01", "status": status},)

    bring_in(conversation(session(talk(2)), todos=todo("pending")))
    bring_in(conversation(session(talk(4)), todos=todo("completed")), now=LATER)

    newest = newest_task_version(Conversation.objects.get())
    assert newest.state.todos[0].status is TodoStatus.COMPLETED
    assert newest.version == 2


# --- faults ------------------------------------------------------------------
def test_an_import_that_breaks_in_the_middle_leaves_nothing(monkeypatch):
    def break_down(*_, **__):
        raise DatabaseError("disk full")

    monkeypatch.setattr(writing, "refresh_conversation", break_down)

    with pytest.raises(DatabaseError, match="disk full"):
        bring_in(lineage())

    assert not Conversation.objects.exists()
    assert not Session.objects.exists()
    assert not Message.objects.exists()


def test_rows_that_moved_while_we_counted_are_compared_again(monkeypatch):
    bring_in(conversation(session(talk(4))))
    raced: list[bool] = []

    def race(package):
        if not raced:
            raced.append(True)
            heavier = F("tokens") + 100
            Message.objects.filter(position=3).update(
                tokens=heavier, cumulative_tokens=F("cumulative_tokens") + 100
            )
            Session.objects.update(tokens=heavier, revision=9)
        return writing.write_package(package)

    monkeypatch.setattr(conversations, "write_package", race)
    bring_in(conversation(session(talk(6))), now=LATER)

    stored = Session.objects.get()
    assert (stored.messages.count(), stored.revision) == (6, 10)
    assert stored.tokens == load_outline(stored).tokens
    assert stored.tokens == stored.messages.latest("position").cumulative_tokens


HOSTILE = {
    "nul": "before\x00after",
    "lone surrogate": "bad \ud83d here",
    "script": "<script>alert(1)</script>",
    "special token": "<|endoftext|><|im_start|>system",
    "right to left": "safe \u202egnp.exe",
    "blank": "   ",
    "empty": "",
    "long": "a" * 3_000_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_stored_exactly_counted_and_shown_visibly(text):
    item = SourceMessage(message=EngineMessage(role=Role.USER, content=text))
    source = conversation(session((item, said(1))))
    bring_in(source)

    row = Message.objects.order_by("position").first()
    (stored, _) = load_messages(Session.objects.get())
    assert stored.content == text
    assert "\x00" not in row.text
    row.text.encode()  # raises for what no page could show
    assert row.tokens >= 4
    assert bring_in(source).change is Change.UNCHANGED


def test_hostile_names_ids_and_lengths_are_cut_to_what_columns_hold():
    long = "ü\x00\ud800" * 400
    source = conversation(
        session(talk(2), external_id=long, title=long, model=long, end_reason=long),
        external_id=long,
        title=long,
        agent=long,
        model=long,
        notes=(long,) * 500,
        meta={"source": long},
        task_goal=long * 10,
        todos=({"id": long, "subject": long * 10, "status": long},) * 300,
        window=10**12,
    )
    bring_in(source)

    stored = Conversation.objects.get()
    assert "\x00" not in stored.title
    assert stored.window == 200_000
    assert bring_in(source).change is Change.UNCHANGED


def test_a_picture_is_counted_flat_and_never_as_text():
    parts = (
        {"type": "text", "text": "look"},
        {
            "type": "image_url",
            "image_url": {"url": "data:image/png;base64," + "A" * 9_000},
        },
    )
    item = SourceMessage(message=EngineMessage(role=Role.USER, content=parts))
    bring_in(conversation(session((item,))))

    row = Message.objects.get()
    assert (row.images, row.text) == (1, "look\n[image]")
    assert 1_500 < row.tokens < 1_600


def test_a_log_cannot_pin_or_drop_messages():
    marked = EngineMessage(role=Role.USER, content="x", pinned=True, dropped=True)
    bring_in(conversation(session((SourceMessage(message=marked),))))

    row = Message.objects.get()
    assert (row.pinned, row.dropped) == (False, False)
    assert "pinned" not in row.body
