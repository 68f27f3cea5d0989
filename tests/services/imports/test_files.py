"""Importing files: whole, again, grown, broken, hostile, real."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.core import serializers

from compaction.engine.messages import to_storage
from compaction.engine.validation import validate
from compaction.models import (
    Conversation,
    Cooldown,
    Message,
    OperatorAction,
    Session,
    Summary,
    TaskState,
)
from compaction.selectors.search import search_conversations
from compaction.services.audit import verify_chain
from compaction.services.imports import files
from compaction.services.imports.files import ImportReport, import_file
from compaction.sources import SourceError, read_conversations
from compaction.store import load_messages, load_outline
from tests.services import foreign
from tests.shared_data import HERMES_STATE, RAW_TRANSCRIPTS, files_in, needs

pytestmark = pytest.mark.django_db


def write_talk(path: Path, texts, **more) -> Path:
    """An OpenAI log with a user and an assistant in turn."""
    messages = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": text}
        for n, text in enumerate(texts)
    ]
    path.write_text(json.dumps({"messages": messages, **more}), encoding="utf-8")
    return path


def snapshot():
    models = (Conversation, Session, Message, Summary, Cooldown, TaskState)
    return [serializers.serialize("json", m.objects.order_by("pk")) for m in models]


def test_the_report_tells_what_an_import_did(tmp_path, operator):
    log = write_talk(tmp_path / "a.json", ["one", "two", "three"])
    seen: list[ImportReport] = []

    report = import_file(
        log, label="a.json", operator=operator, on_progress=seen.append
    )

    assert (report.new, report.messages, report.done) == (1, 3, 1)
    assert report.sessions == (Session.objects.get().pk,)
    assert [step.measured for step in seen] == [3, 3]


def test_an_import_is_recorded_and_one_that_changes_nothing_is_not(tmp_path, operator):
    log = write_talk(tmp_path / "a.json", ["one", "two"])
    for _ in range(2):
        import_file(log, operator=operator)

    action = OperatorAction.objects.get()
    assert (action.verb, action.target) == ("import", "file:a.json")
    assert action.after == {"new": 1, "grown": 0, "messages": 2, "branches": 0}
    assert verify_chain().is_whole


def test_what_was_imported_can_be_searched(tmp_path):
    import_file(write_talk(tmp_path / "a.json", ["aubergines", "旅行预算"]))

    assert search_conversations("aubergine").conversation_ids
    assert search_conversations("预算").conversation_ids


def test_a_message_that_was_carried_on_is_found_once():
    second = (foreign.said(0, "aubergines", origin=0), foreign.said(9))
    foreign.bring_in(
        foreign.conversation(
            foreign.session((foreign.said(0, "aubergines"),)),
            foreign.session(second, 2),
        )
    )

    found = search_conversations("aubergines")
    assert list(found.counts.values()) == [1]
    hit = Message.objects.get(pk=next(iter(found.messages.values())))
    assert hit.session.generation == 1


@pytest.mark.parametrize(
    ("name", "raw", "reason"),
    [
        ("empty.json", b"", "empty"),
        ("foreign.txt", b"GIF89a" + b"\x00" * 500, "unknown_format"),
        ("cut.json", b'{"messages": [{"role": "user", "content": "a"', "broken"),
        ("deep.json", b"[" * 50_000, None),
        ("no-one.json", b'{"messages": []}', None),
    ],
)
def test_a_file_that_cannot_be_read_leaves_nothing(tmp_path, name, raw, reason):
    log = tmp_path / name
    log.write_bytes(raw)

    with pytest.raises(SourceError) as refused:
        import_file(log)

    assert reason in (None, refused.value.reason)
    assert str(log) in str(refused.value)
    assert not Conversation.objects.exists()
    assert not OperatorAction.objects.exists()


def read_two_then_break(path, **_):
    """Read as the reader of a large log does: what comes first is given at once."""
    yield foreign.conversation(foreign.session(foreign.talk(1)))
    yield foreign.conversation(foreign.session(foreign.talk(1)), external_id="b")
    raise SourceError(str(path), "broken", line=3)


def two_talks(path: Path) -> Path:
    """A JSON Lines log of conversations whose third line is broken."""
    lines = [
        json.dumps({"messages": [{"role": "user", "content": f"talk {n}"}]})
        for n in range(3)
    ]
    lines.insert(2, '{"messages": [{"role": "us')
    path.write_text("\n".join(lines))
    return path


def test_a_broken_end_of_a_small_file_leaves_nothing_of_its_beginning(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(files, "read_conversations", read_two_then_break)

    with pytest.raises(SourceError) as refused:
        import_file(two_talks(tmp_path / "log.jsonl"))

    assert refused.value.line == 3
    assert not Conversation.objects.exists()


def test_of_a_large_broken_file_the_whole_conversations_are_kept_and_recorded(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(files, "_READ_AT_ONCE", 0)
    monkeypatch.setattr(files, "read_conversations", read_two_then_break)

    with pytest.raises(SourceError):
        import_file(two_talks(tmp_path / "log.jsonl"))

    assert [c.message_count for c in Conversation.objects.all()] == [1, 1]
    assert OperatorAction.objects.get().after["new"] == 2


def test_a_missing_file_is_an_error_of_the_file(tmp_path):
    with pytest.raises(SourceError) as refused:
        import_file(tmp_path / "gone.json")

    assert refused.value.reason == "not_found"


# --- real logs ---------------------------------------------------------------
def real_logs():
    ours = [
        *files_in(HERMES_STATE, "*.db"),
        *files_in(HERMES_STATE, "session_*.json"),
        *files_in(RAW_TRANSCRIPTS),
    ]
    return ours or [HERMES_STATE / "absent"]


@needs(HERMES_STATE)
@needs(RAW_TRANSCRIPTS)
@pytest.mark.parametrize("path", real_logs(), ids=lambda path: path.name)
def test_a_real_log_is_imported_whole_and_twice_changes_nothing(path):
    report = import_file(path)
    before = snapshot()

    again = import_file(path)

    assert report.new == again.unchanged > 0
    assert report.messages == Message.objects.count()
    assert snapshot() == before


@needs(HERMES_STATE)
@needs(RAW_TRANSCRIPTS)
@pytest.mark.parametrize("path", real_logs(), ids=lambda path: path.name)
def test_every_message_of_a_real_log_is_stored_as_it_was_read(path):
    found = list(read_conversations(path))
    import_file(path)

    for conversation in found:
        stored = Conversation.objects.get(
            source=conversation.source, external_id=conversation.external_id
        )
        sessions = stored.sessions.order_by("generation")
        assert len(sessions) == len(conversation.sessions)
        for session, read in zip(sessions, conversation.sessions, strict=True):
            expected = [_storable(item) for item in read.messages]
            assert [to_storage(m) for m in load_messages(session)] == expected
            outline = load_outline(session)
            assert session.tokens == outline.tokens
            assert session.message_count == len(read.messages)


def _storable(item):
    message = item.message.evolve(pinned=False, dropped=item.inactive)
    return to_storage(message)


GROWN = "20261130_205725_e70227"


@needs(HERMES_STATE)
def test_a_hermes_database_that_grew_is_one_conversation_all_along(tmp_path):
    """The same agent's database at four moments: no row is ever written twice."""
    moments = files_in(HERMES_STATE, "[1-4]_*.db")
    live = tmp_path / "state.db"
    messages = 0
    for moment in moments:
        shutil.copyfile(moment, live)
        messages += import_file(live).messages
    grown = Conversation.objects.get(external_id=GROWN)

    assert Message.objects.count() == messages
    assert grown.import_notes == []
    assert grown.session_count == 7
    assert grown.tip.generation == 7
    links = grown.sessions.order_by("generation").values_list("link", flat=True)
    assert list(links) == ["root", *["in_place"] * 6]
    in_one_go = in_another_database(moments[-1])
    assert shape(grown) == in_one_go


def shape(conversation):
    return [
        (s.generation, s.message_count, s.tokens, s.compactions, s.end_reason)
        for s in conversation.sessions.order_by("generation")
    ]


def in_another_database(path):
    Conversation.objects.update(source="set aside", tip=None)
    Session.objects.update(external_id="")
    import_file(path)
    return shape(Conversation.objects.get(source="hermes", external_id=GROWN))


@needs(HERMES_STATE)
def test_a_live_cooldown_of_a_hermes_agent_is_ours_too():
    import_file(HERMES_STATE / "4_after_fallback_summary_and_cooldown.db")

    rung = Cooldown.objects.get()
    assert rung.seconds == 60
    assert "500" in rung.error


@needs(HERMES_STATE)
@pytest.mark.parametrize("path", files_in(HERMES_STATE, "*.db"), ids=lambda p: p.name)
def test_no_import_invents_an_orphan(path):
    import_file(path)

    for session in Session.objects.all():
        stored = load_messages(session)
        faults = [f for f in validate(stored) if f.is_error]
        read = messages_in(path, session)
        assert faults == [f for f in validate(read) if f.is_error]


def messages_in(path, session):
    return next(
        [item.message.evolve(dropped=item.inactive) for item in found.messages]
        for conversation in read_conversations(path)
        for found in conversation.sessions
        if found.external_id == session.external_id
    )


@needs(HERMES_STATE)
def test_a_hermes_database_is_only_ever_read(tmp_path):
    live = tmp_path / "state.db"
    shutil.copyfile(HERMES_STATE / "5_rotation_lineage_3_sessions.db", live)
    before = live.read_bytes()
    with closing(sqlite3.connect(live)) as agent:
        agent.execute("BEGIN IMMEDIATE")  # the agent is writing

        assert import_file(live).new >= 1

    assert live.read_bytes() == before
