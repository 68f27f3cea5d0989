"""Hermes' database: real ones, and each trap of it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from compaction.engine.messages import Kind, Role
from compaction.sources import (
    SourceError,
    SourceLimits,
    detect,
    hermes_database,
    read_conversations,
    summarise_file,
)
from compaction.sources.values import Link
from tests.shared_data import HERMES_STATE, RAW_TRANSCRIPTS, needs
from tests.sources.files import (
    calls_of,
    messages_of,
    read_all,
    read_one,
    roles_of,
    texts_of,
)
from tests.sources.hermes_home import (
    HermesHome,
    answers,
    asks,
    call,
    merged_text,
    says,
    summary_text,
)


@pytest.fixture
def home(tmp_path: Path) -> HermesHome:
    return HermesHome(tmp_path / "state.db")


def _turn(number: int) -> list[dict[str, object]]:
    """One question, one call, its result, one answer."""
    return [
        asks(f"question {number}"),
        says(f"look {number}", call(f"c{number}", command=f"ls {number}")),
        answers(f"c{number}", f"result {number} " + "x" * 300),
        says(f"answer {number}"),
    ]


# Real databases. The figures were counted by hand in the rows.


def _real(name: str) -> Path:
    return HERMES_STATE / name


@needs(HERMES_STATE)
def test_a_database_before_any_compaction_has_two_plain_conversations():
    first, second = read_all(_real("1_before_compaction.db"))
    assert [len(c.sessions) for c in (first, second)] == [1, 1]
    assert len(first.sessions[0].messages) == 6
    assert len(second.sessions[0].messages) == 16
    assert len(calls_of(second.sessions[0])) == 7
    assert second.sessions[0].link is Link.ROOT
    assert len(second.sessions[0].system_prompt) == 6629
    assert first.sessions[0].end_reason == "agent_close"


@needs(HERMES_STATE)
@pytest.mark.parametrize(
    ("name", "position", "first_rows", "sizes"),
    [
        ("2_after_inplace_compaction.db", 1, [7, 24], [17, 12]),
        ("3_after_second_inplace_edited_summary.db", 1, [7, 24, 37], [17, 13, 9]),
        (
            "4_after_fallback_summary_and_cooldown.db",
            1,
            [7, 24, 37, 47, 60, 68, 78],
            [17, 13, 10, 13, 8, 10, 11],
        ),
        ("4_after_fallback_summary_and_cooldown.db", 2, [89, 102, 114], [13, 12, 13]),
        ("6_external_compact_now_inplace.db", 0, [1, 23, 52], [22, 29, 23]),
    ],
)
def test_in_place_compactions_are_rebuilt_as_generations(
    name: str, position: int, first_rows: list[int], sizes: list[int]
):
    sessions = read_all(_real(name))[position].sessions
    assert [int(s.messages[0].external_id) for s in sessions] == first_rows
    assert [len(s.messages) for s in sessions] == sizes
    assert [s.generation for s in sessions] == list(range(1, len(sizes) + 1))
    assert [s.parent for s in sessions] == [None, *range(len(sizes) - 1)]
    assert {s.link for s in sessions[1:]} == {Link.IN_PLACE}
    assert [s.end_reason for s in sessions] == ["compression"] * (len(sizes) - 1) + [""]
    assert [bool(s.summary) for s in sessions] == [False] + [True] * (len(sizes) - 1)


@needs(HERMES_STATE)
def test_every_generation_knows_its_own_summary_bare():
    sessions = read_all(_real("4_after_fallback_summary_and_cooldown.db"))[1].sessions
    last_lines = [s.summary.splitlines()[-1].split()[0] for s in sessions[1:]]
    assert last_lines == [f"STUB-SUMMARY-{number}" for number in range(1, 7)]
    assert {s.summary.splitlines()[0] for s in sessions[1:]} == {
        "## Historical Task Snapshot"
    }


@needs(HERMES_STATE)
def test_verbatim_copies_point_at_their_original_and_pruned_ones_do_not():
    first, second = read_all(_real("2_after_inplace_compaction.db"))[1].sessions
    origins = [item.origin for item in second.messages]
    assert origins == [0, 1, None, None, 13, 14, 15, 16, None, None, None, None]
    for item in second.messages:
        if item.origin is not None:
            assert item.message == first.messages[item.origin].message
    assert second.messages[2].message.text == "[todo] updated task list"


@needs(HERMES_STATE)
def test_a_live_cooldown_belongs_to_the_tip_and_a_fallback_summary_is_noted():
    conversation = read_all(_real("4_after_fallback_summary_and_cooldown.db"))[2]
    tip = conversation.sessions[-1]
    assert tip.cooldown is not None
    assert tip.cooldown.until == datetime(2026, 11, 30, 21, 1, 16, 387353, UTC)
    assert tip.cooldown.failures == 1
    assert "boom" in tip.cooldown.error
    assert [s.cooldown for s in conversation.sessions[:-1]] == [None, None]
    assert conversation.notes == (f"fallback_summary:{tip.external_id}",)


@needs(HERMES_STATE)
def test_todos_survive_the_compaction_that_hermes_itself_loses_them_in():
    conversation = read_all(_real("3_after_second_inplace_edited_summary.db"))[1]
    assert [(t["id"], t["subject"], t["status"]) for t in conversation.todos] == [
        ("1", "read config.py", "completed"),
        ("2", "read s05", "in_progress"),
        ("3", "read s06", "pending"),
    ]


@needs(HERMES_STATE)
@pytest.mark.parametrize(
    ("name", "titles", "sizes"),
    [
        (
            "5_rotation_lineage_3_sessions.db",
            ["Fix login bug", "Fix login bug #2", "Fix login bug #3"],
            [13, 12, 15],
        ),
        (
            "7_external_raw_sql_rotation.db",
            ["Fix login bug", *(f"Fix login bug #{n}" for n in (2, 3, 4))],
            [13, 12, 15, 7],
        ),
    ],
)
def test_a_rotation_lineage_is_one_conversation(
    name: str, titles: list[str], sizes: list[int]
):
    conversation = read_one(_real(name))
    assert conversation.title == "Fix login bug"
    assert conversation.external_id == "20261130_210057_117fa8"
    assert [s.title for s in conversation.sessions] == titles
    assert [len(s.messages) for s in conversation.sessions] == sizes
    assert {s.link for s in conversation.sessions[1:]} == {Link.COMPACTION}
    assert conversation.notes == ()


@needs(HERMES_STATE)
def test_a_hand_made_summary_without_preamble_is_recognised():
    tip = read_one(_real("7_external_raw_sql_rotation.db")).sessions[-1]
    assert tip.summary == "hand made summary EXT-ROT"
    assert tip.messages[0].message.kind is Kind.SUMMARY


@needs(HERMES_STATE)
def test_what_summaries_cost_is_kept_beside_the_conversation():
    conversation = read_all(_real("4_after_fallback_summary_and_cooldown.db"))[1]
    spent = {entry.get("task", ""): entry for entry in conversation.meta["usage"]}
    assert spent["compression"]["api_call_count"] == 6
    assert spent["compression"]["input_tokens"] == 10797
    assert spent["compression"]["output_tokens"] == 120


@needs(RAW_TRANSCRIPTS)
def test_the_sample_database_holds_chinese_a_picture_and_a_lineage():
    chinese, picture, lineage = read_all(RAW_TRANSCRIPTS / "hermes_state_sample.db")
    assert [len(chinese.sessions[0].messages), chinese.model] == [23, "glm-4.7"]
    assert sum(m.image_count for m in messages_of(picture.sessions[0])) == 1
    assert [len(s.messages) for s in lineage.sessions] == [277, 66]
    assert [len(calls_of(s)) for s in lineage.sessions] == [138, 31]
    assert lineage.sessions[1].summary.startswith("## Goal\nStub summary used")


@needs(HERMES_STATE)
def test_facts_of_a_database_are_told_without_reading_its_messages():
    facts = summarise_file(_real("5_rotation_lineage_3_sessions.db"))
    assert (facts.format, facts.conversations, facts.messages) == (
        "hermes_state",
        1,
        40,
    )


# Databases that tests write.


def test_messages_come_in_the_order_of_writing_never_of_time(home: HermesHome):
    session = home.session()
    home.write(session, asks("first"))
    home.write(session, {"role": "user", "content": "second", "timestamp": 5.0})
    home.write(session, asks("third"))
    assert texts_of(read_one(home.path).sessions[0]) == ["first", "second", "third"]


def test_a_running_agent_that_never_loaded_its_head_still_keeps_it_in_its_block(
    home: HermesHome,
):
    session = home.session()
    turns = [*_turn(1), *_turn(2), asks("question 3")]
    home.write(session, *turns)
    head, tail = turns[:2], turns[5:]
    summary = says(summary_text("# one"))
    home.compact_in_place(session, [*head, turns[2], summary, *tail])
    first, second = read_one(home.path).sessions
    assert [len(first.messages), len(second.messages)] == [9, 8]
    assert second.messages[0].message.text == "question 1"
    assert second.summary == "# one"
    assert [m.origin for m in second.messages] == [0, 1, 2, None, 5, 6, 7, 8]


def test_two_compactions_with_no_turn_between_are_two_generations(home: HermesHome):
    session = home.session()
    home.write(session, *_turn(1), *_turn(2), *_turn(3))
    for body in ("# one", "# two"):
        loaded = [m for m in home.load(session) if "CONTEXT COMP" not in m["content"]]
        summary = asks(summary_text(body))
        home.compact_in_place(session, [loaded[0], summary, *loaded[-3:]])
    sessions = read_one(home.path).sessions
    assert [len(s.messages) for s in sessions] == [12, 5, 5]
    assert [s.summary for s in sessions] == ["", "# one", "# two"]


def test_an_old_summary_kept_in_the_head_does_not_open_a_generation(home: HermesHome):
    session = home.session()
    home.write(session, *_turn(1), *_turn(2))
    home.compact_in_place(
        session, [asks(summary_text("# old")), *home.load(session)[-4:]]
    )
    home.write(session, *_turn(3))
    loaded = home.load(session)
    home.compact_in_place(
        session, [*loaded[:2], asks(summary_text("# new")), *loaded[-2:]]
    )
    sessions = read_one(home.path).sessions
    assert [len(s.messages) for s in sessions] == [8, 9, 5]
    assert [s.summary for s in sessions] == ["", "# old", "# new"]
    kinds = [m.kind for m in messages_of(sessions[2])]
    assert kinds.count(Kind.SUMMARY) == 2


@pytest.mark.parametrize("is_restarted", [True, False])
def test_a_summary_merged_into_a_message_keeps_that_message_apart(
    home: HermesHome, *, is_restarted: bool
):
    session = home.session()
    home.write(session, *_turn(1), *_turn(2))
    held = home.load(session)
    if not is_restarted:
        for message in held:
            message["timestamp"] = None
    tail = [{**held[4], "content": merged_text("question 2", "# merged")}, *held[5:]]
    home.compact_in_place(session, [held[0], *tail])
    home.write(session, *_turn(3))
    first, second = read_one(home.path).sessions
    assert [len(first.messages), len(second.messages)] == [8, 9]
    carrier = second.messages[1].message
    assert (carrier.content, carrier.carried_summary) == ("question 2", "# merged")
    assert carrier.kind is Kind.PLAIN
    assert second.summary == "# merged"


def test_rewound_rows_stay_where_they_were_said_and_are_inactive(home: HermesHome):
    session = home.session()
    home.write(session, *_turn(1))
    home.rewind(*home.write(session, *_turn(2)))
    home.write(session, *_turn(3))
    (only,) = read_one(home.path).sessions
    inactive = [item.inactive for item in only.messages]
    assert inactive == [False] * 4 + [True] * 4 + [False] * 4


def test_rows_rewound_before_a_compaction_stay_in_the_older_generation(
    home: HermesHome,
):
    session = home.session()
    home.write(session, *_turn(1), *_turn(2))
    home.rewind(*home.write(session, asks("taken back")))
    loaded = home.load(session)
    home.compact_in_place(session, [asks(summary_text("# s")), *loaded[-2:]])
    first, second = read_one(home.path).sessions
    assert texts_of(first)[-1] == "taken back"
    assert first.messages[-1].inactive
    assert len(second.messages) == 3


def test_a_head_that_ends_with_the_newest_copy_stays_with_its_summary(
    home: HermesHome,
):
    session = home.session()
    home.write(session, *_turn(1))
    last = home.load(session)[-1] | {"timestamp": None}
    home.compact_in_place(session, [asks(summary_text("# one")), last])
    loaded = home.load(session)
    home.compact_in_place(session, [*loaded, asks(summary_text("# two"))])
    home.write(session, *_turn(2))
    sessions = read_one(home.path).sessions
    assert [len(s.messages) for s in sessions] == [4, 2, 7]
    assert [s.summary for s in sessions] == ["", "# one", "# two"]


def test_where_the_live_list_begins_is_known_even_without_a_summary(home: HermesHome):
    session = home.session()
    home.write(session, *_turn(1), *_turn(2))
    held = [message | {"timestamp": None} for message in home.load(session)]
    home.compact_in_place(session, [asks("a note instead of a summary"), *held[-2:]])
    first, second = read_one(home.path).sessions
    assert [len(first.messages), len(second.messages)] == [8, 3]
    assert second.summary == ""


def test_a_coarse_clock_makes_no_generations(home: HermesHome):
    session = home.session()
    for turn in (1, 2, 3):
        for message in _turn(turn):
            home.write(session, {**message, "timestamp": 1_796_072_000.0 + turn})
    loaded = home.load(session)
    home.compact_in_place(session, [asks(summary_text("# s")), *loaded[-3:]])
    assert [len(s.messages) for s in read_one(home.path).sessions] == [12, 4]


def test_a_clock_that_went_back_makes_no_generations(home: HermesHome):
    session = home.session()
    home.write(session, *_turn(1))
    home.now -= 3600
    home.write(session, *_turn(2), *_turn(3))
    loaded = home.load(session)
    home.now += 7200
    home.compact_in_place(session, [asks(summary_text("# s")), *loaded[-3:]])
    assert [len(s.messages) for s in read_one(home.path).sessions] == [12, 4]


def test_a_child_of_a_rotation_may_be_compacted_in_place_later(home: HermesHome):
    parent = home.session()
    home.write(parent, *_turn(1), *_turn(2))
    loaded = home.load(parent)
    child = "20261130_110000_bbbbbb"
    home.rotate(parent, child, loaded[0], asks(summary_text("# one")), *loaded[-2:])
    home.write(child, *_turn(3))
    later = home.load(child)
    home.compact_in_place(child, [asks(summary_text("# two")), *later[-3:]])
    conversation = read_one(home.path)
    sessions = conversation.sessions
    assert [s.link for s in sessions] == [Link.ROOT, Link.COMPACTION, Link.IN_PLACE]
    assert [s.external_id for s in sessions] == [parent, child, f"{child}@2"]
    assert [len(s.messages) for s in sessions] == [8, 8, 4]
    assert [s.summary for s in sessions] == ["", "# one", "# two"]


def test_a_child_may_begin_with_its_parents_newest_message(home: HermesHome):
    parent = home.session()
    home.write(parent, *_turn(1))
    child = "20261130_110000_bbbbbb"
    home.rotate(parent, child, *home.load(parent), asks(summary_text("# one")))
    home.write(child, *_turn(2))
    later = home.load(child)
    home.compact_in_place(child, [asks(summary_text("# two")), *later[-1:]])
    sessions = read_one(home.path).sessions
    assert [len(s.messages) for s in sessions] == [4, 9, 2]


def test_a_grown_database_keeps_ids_order_and_content(home: HermesHome):
    session = home.session()
    home.write(session, *_turn(1), *_turn(2))
    before = read_one(home.path)
    home.write(session, *_turn(3))
    home.compact_in_place(
        session, [asks(summary_text("# s")), *home.load(session)[-3:]]
    )
    after = read_one(home.path)
    assert after.external_id == before.external_id
    old, new = before.sessions[0], after.sessions[0]
    assert new.external_id == old.external_id
    assert new.messages[: len(old.messages)] == old.messages
    assert read_one(home.path) == after


def test_a_branch_and_a_sub_agent_are_conversations_of_their_own(home: HermesHome):
    parent = home.session()
    home.write(parent, *_turn(1))
    child = home.rotate(parent, "20261130_110000_bbbbbb", asks("go on"))
    for name, fields in {
        "20261130_110000_cccccc": {"model_config": '{"_branched_from": "x"}'},
        "20261130_110000_dddddd": {"model_config": '{"_delegate_from": "x"}'},
        "20261130_110000_eeeeee": {"source": "tool"},
    }.items():
        home.session(name, parent_session_id=parent, **fields)
        home.write(name, asks(f"work of {name}"))
    main, *others = read_all(home.path)
    assert [s.external_id for s in main.sessions] == [parent, child]
    assert len(others) == 3
    for conversation in others:
        assert conversation.sessions[0].link is Link.BRANCH
        assert conversation.sessions[0].parent is None
        assert conversation.meta["branch_of"] == parent


def test_of_two_continuations_the_live_one_is_followed(home: HermesHome):
    parent = home.session()
    home.write(parent, *_turn(1))
    stale = home.rotate(parent, "20261130_110000_bbbbbb", asks("stale"))
    live = home.rotate(parent, "20261130_110000_cccccc", asks("live"))
    home.write(stale, asks("written later, by a stale process"))
    home.db.execute(
        "UPDATE sessions SET ended_at = 1, end_reason = 'ws_orphan_reap' WHERE id = ?",
        (stale,),
    )
    main, other = read_all(home.path)
    assert [s.external_id for s in main.sessions] == [parent, live]
    assert other.meta["branch_of"] == parent


def test_a_session_closed_without_continuation_is_noted(home: HermesHome):
    session = home.session(end_reason="compression", ended_at=1_796_072_100.0)
    home.write(session, *_turn(1))
    assert read_one(home.path).notes == (f"closed_without_continuation:{session}",)


def test_parents_in_a_circle_are_read_and_noted(home: HermesHome):
    one, two = "20261130_100000_aaaaaa", "20261130_100000_bbbbbb"
    for session, parent in ((one, two), (two, one)):
        home.session(session, parent_session_id=parent, end_reason="compression")
        home.write(session, asks(f"in {session}"))
    conversation = read_one(home.path)
    assert [s.external_id for s in conversation.sessions] == [one, two]
    assert "lineage_cycle" in conversation.notes


def test_list_contents_behind_a_nul_are_read_whole(home: HermesHome):
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    session = home.session()
    home.write(session, asks("\x00json:" + json.dumps(parts)), asks("plain \x00 nul"))
    first, second = messages_of(read_one(home.path).sessions[0])
    assert first.content == tuple(parts)
    assert first.image_count == 1
    assert second.content == "plain \x00 nul"


def test_broken_fields_are_kept_as_text_and_counted(home: HermesHome):
    session = home.session()
    home.write(
        session,
        asks("\x00json:[{broken"),
        {"role": "assistant", "content": "x", "tool_calls": "not json"},
        {"role": "assistant", "content": "y", "tool_calls": '{"id": "no list"}'},
        {"role": "session_meta", "content": "tools and so on"},
    )
    conversation = read_one(home.path)
    messages = conversation.sessions[0].messages
    assert messages[0].message.text == "[{broken"
    assert messages[1].message.extra["broken_tool_calls"] == "not json"
    assert messages[3].inactive
    assert messages[3].message.extra["source_role"] == "session_meta"
    assert conversation.notes == (
        "broken_content:1",
        "broken_tool_calls:2",
        "foreign_role:session_meta:1",
    )


def test_equal_reasoning_in_two_columns_counts_once(home: HermesHome):
    session = home.session()
    home.write(
        session,
        says("a") | {"reasoning": "same", "reasoning_content": "same"},
        says("b") | {"reasoning": "hidden", "reasoning_content": "shown"},
    )
    first, second = messages_of(read_one(home.path).sessions[0])
    assert first.extra == {"reasoning_content": "same"}
    assert second.extra == {"reasoning_content": "shown", "reasoning": "hidden"}


def test_what_the_model_really_saw_is_kept_beside_the_content(home: HermesHome):
    session = home.session()
    home.write(session, asks("short") | {"api_content": "short and a memory"})
    (message,) = messages_of(read_one(home.path).sessions[0])
    assert (message.content, message.extra["api_content"]) == (
        "short",
        "short and a memory",
    )


def test_texts_that_hermes_wrote_for_the_user_are_synthetic(home: HermesHome):
    session = home.session()
    home.write(
        session,
        asks("[System: Your previous response was truncated by the output limit."),
        asks("[IMPORTANT: Background process 12 finished."),
        asks("I wrote this"),
        asks(
            "mine\n\n[Your active task list was preserved across context compression]"
        ),
    )
    kinds = [m.kind for m in messages_of(read_one(home.path).sessions[0])]
    assert kinds == [Kind.SYNTHETIC, Kind.SYNTHETIC, Kind.PLAIN, Kind.PLAIN]


def test_the_goal_moves_with_the_lineage(home: HermesHome):
    parent = home.session()
    home.write(parent, asks("hello"))
    home.rotate(parent, "20261130_110000_bbbbbb", asks("more"))
    goal = {"goal": "Ship it", "status": "active", "subgoals": ["tests green", ""]}
    home.meta(f"goal:{parent}", json.dumps(goal))
    assert read_one(home.path).task_goal == "Ship it\n- tests green"


def test_a_database_of_an_older_hermes_lacks_columns_and_tables(tmp_path: Path):
    path = tmp_path / "old.db"
    db = sqlite3.connect(path)
    db.executescript(
        """
        CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL);
        CREATE TABLE messages (
            id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,
            timestamp REAL);
        INSERT INTO sessions VALUES ('20250101_000000_abcdef', 'cli', 1735689600);
        INSERT INTO messages VALUES (1, '20250101_000000_abcdef', 'user', 'hi', 1.0);
        """
    )
    db.close()
    conversation = read_one(path)
    assert texts_of(conversation.sessions[0]) == ["hi"]
    assert conversation.sessions[0].started_at == datetime(2025, 1, 1, tzinfo=UTC)


def test_a_newer_hermes_may_add_columns(home: HermesHome):
    home.db.execute("ALTER TABLE messages ADD COLUMN mood TEXT DEFAULT 'fine'")
    home.write(home.session(), asks("hi"))
    assert texts_of(read_one(home.path).sessions[0]) == ["hi"]


def test_sessions_without_a_word_are_no_conversations(home: HermesHome):
    home.session()
    with pytest.raises(SourceError) as caught:
        read_all(home.path)
    assert caught.value.reason == "no_messages"


def test_a_database_of_something_else_is_refused(tmp_path: Path):
    path = tmp_path / "places.sqlite"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE places (id INTEGER, url TEXT)")
    db.commit()
    db.close()
    with pytest.raises(SourceError) as caught:
        detect(path)
    assert caught.value.reason == "unknown_format"


def test_views_named_like_hermes_tables_are_refused(tmp_path: Path):
    path = tmp_path / "views.db"
    db = sqlite3.connect(path)
    db.executescript(
        """
        CREATE VIEW sessions AS WITH RECURSIVE n(id) AS
            (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n;
        CREATE VIEW messages AS SELECT 1 id, 1 session_id, 'user' role, 'x' content;
        """
    )
    db.close()
    with pytest.raises(SourceError) as caught:
        read_all(path)
    assert caught.value.reason == "unknown_format"


def test_a_database_that_takes_endless_steps_is_given_up(
    home: HermesHome, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hermes_database, "_FREE_STEPS", 0)
    monkeypatch.setattr(hermes_database, "_STEPS_PER_BYTE", 0)
    monkeypatch.setattr(hermes_database, "_STEPS", 10)
    home.write(home.session(), *_turn(1))
    with pytest.raises(SourceError) as caught:
        read_all(home.path)
    assert caught.value.reason == "too_large"


def test_a_database_without_its_index_is_read_all_the_same(home: HermesHome):
    home.db.execute("DROP INDEX idx_messages_session")
    for number in range(20):
        home.write(home.session(f"20261130_1000{number:02}_aaaaaa"), *_turn(number))
    assert len(read_all(home.path)) == 20


def test_a_locked_database_says_so(home: HermesHome, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hermes_database, "BUSY_SECONDS", 0.05)
    home.write(home.session(), asks("hi"))
    home.db.execute("PRAGMA locking_mode=EXCLUSIVE")
    home.db.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SourceError) as caught:
        read_all(home.path)
    assert caught.value.reason == "locked"


def test_a_damaged_database_is_an_error_and_not_a_crash(home: HermesHome):
    session = home.session()
    home.write(session, *(message for n in range(60) for message in _turn(n)))
    home.db.close()
    raw = bytearray(home.path.read_bytes())
    raw[8192 : len(raw) - 4096] = b"\xa5" * (len(raw) - 4096 - 8192)
    home.path.write_bytes(raw)
    with pytest.raises(SourceError) as caught:
        read_all(home.path)
    assert caught.value.reason == "broken"


def test_too_many_messages_are_refused_by_number(home: HermesHome):
    home.write(home.session(), *_turn(1))
    with pytest.raises(SourceError) as caught:
        read_all(home.path, SourceLimits(messages=3))
    assert caught.value.reason == "too_large"


def test_text_that_is_not_utf8_is_read_with_marks(home: HermesHome):
    session = home.session()
    home.write(session, asks("good"))
    home.db.execute("UPDATE messages SET content = CAST(X'61ff62' AS TEXT)")
    assert texts_of(read_one(home.path).sessions[0]) == ["a\ufffdb"]


def test_values_of_any_type_are_read(home: HermesHome):
    session = home.session(title=b"\xff\x00", model=1.5)
    home.write(session, asks("x"))
    home.db.execute("UPDATE messages SET content = X'6869', timestamp = 'noon'")
    conversation = read_one(home.path)
    (entry,) = conversation.sessions[0].messages
    assert (entry.message.content, entry.at, entry.inactive) == ("hi", None, False)
    assert conversation.notes == ("binary_content:1",)
    assert conversation.model == "1.5"


def test_a_session_without_an_id_is_refused(home: HermesHome):
    home.write(home.session(""), asks("x"))
    with pytest.raises(SourceError) as caught:
        read_all(home.path)
    assert caught.value.reason == "broken"


def test_an_id_longer_than_a_column_is_shortened_and_its_rows_are_found(
    home: HermesHome,
):
    session = home.session("s" * 900)
    home.write(session, asks("x"))
    conversation = read_one(home.path)
    assert len(conversation.external_id) == 200
    assert texts_of(conversation.sessions[0]) == ["x"]


def test_reading_changes_no_byte_of_the_database(home: HermesHome):
    home.write(home.session(), *_turn(1))
    home.db.close()
    before = home.path.read_bytes()
    read_all(home.path)
    detect(home.path)
    summarise_file(home.path)
    assert home.path.read_bytes() == before


def test_a_name_full_of_signs_can_be_opened(tmp_path: Path):
    folder = tmp_path / "a b%3F?c#d"
    folder.mkdir()
    home = HermesHome(folder / "state.db")
    home.write(home.session(), asks("hi"))
    assert len(read_all(home.path)) == 1


WRITER = textwrap.dedent(
    """
    import sqlite3, sys, time
    db = sqlite3.connect(sys.argv[1], isolation_level=None)
    print(db.execute("PRAGMA journal_mode=WAL").fetchone()[0], flush=True)
    for number in range(1, 40_001, 2):
        db.execute("BEGIN IMMEDIATE")
        for step, role in enumerate(("user", "assistant")):
            db.execute(
                "INSERT INTO messages (session_id, role, content, timestamp)"
                " VALUES (?, ?, ?, ?)",
                ("20261130_100000_aaaaaa", role, f"message {number + step}", number),
            )
        db.execute("COMMIT")
        if number == 199:
            print("under way", flush=True)
        time.sleep(0.0005)
    """
)


def test_a_database_is_read_whole_while_a_writer_appends(home: HermesHome):
    home.session()
    home.db.close()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(home.path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline().strip() == "wal"
        assert writer.stdout.readline().strip() == "under way"
        seen: list[str] = []
        growths = 0
        while growths < 12:
            (session,) = read_one(home.path).sessions
            texts = texts_of(session)
            growths += len(texts) > len(seen)
            assert texts[: len(seen)] == seen
            assert texts == [f"message {n}" for n in range(1, len(texts) + 1)]
            assert roles_of(session)[-1] == Role.ASSISTANT  # no half transaction
            seen = texts
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.communicate()


def test_all_of_a_conversation_is_read_at_one_moment(
    home: HermesHome, monkeypatch: pytest.MonkeyPatch
):
    home.db.execute("PRAGMA journal_mode=WAL")
    session = home.session()
    home.write(session, asks("before"))
    read_session = hermes_database.HermesDatabase.session

    def read_and_be_overtaken(self: Any, session_id: object) -> dict[str, Any]:
        row = read_session(self, session_id)
        home.write(session, says("meanwhile"))
        return row

    monkeypatch.setattr(
        hermes_database.HermesDatabase, "session", read_and_be_overtaken
    )
    assert texts_of(read_one(home.path).sessions[0]) == ["before"]
    assert texts_of(read_one(home.path).sessions[0]) == ["before", "meanwhile"]


def test_a_conversation_that_grows_between_two_is_read_at_one_moment(home: HermesHome):
    one = home.session("20261130_100000_aaaaaa")
    two = home.session("20261130_100001_bbbbbb")
    home.write(one, asks("one"))
    home.write(two, asks("two"))
    reading = read_conversations(home.path)
    next(reading)
    home.write(two, says("meanwhile"))  # no lock is held between conversations
    assert texts_of(next(reading).sessions[0]) == ["two", "meanwhile"]
