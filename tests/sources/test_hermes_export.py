"""Files that Hermes writes out of its database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compaction.sources import SourceError, detect
from compaction.sources.values import Link
from tests.sources.files import read_all, read_one, texts_of, write_json, write_lines


def session(name: str, *texts: str, **fields: Any) -> dict[str, Any]:
    messages = [
        {"id": n, "role": "user", "content": text, "timestamp": 100.0 + n, "active": 1}
        for n, text in enumerate(texts)
    ]
    row = {"id": name, "source": "cli", "started_at": 100.0, "end_reason": None}
    return row | {"messages": messages} | fields


PARENT = session("p", "one", title="A title", end_reason="compression", ended_at=200.0)
CHILD = session("c", "two", title="A title #2", parent_session_id="p", started_at=201.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "export"


def test_a_lineage_export_is_one_conversation_of_its_segments(path: Path):
    document = CHILD | {"segments": [PARENT, CHILD]}
    conversation = read_one(write_json(path, document))
    assert detect(path) == "hermes_export"
    assert [texts_of(s) for s in conversation.sessions] == [["one"], ["two"]]
    assert conversation.sessions[1].link is Link.COMPACTION
    assert conversation.title == "A title"


def test_an_export_of_all_sessions_joins_lineages_whatever_their_order(path: Path):
    other = session("o", "alone", started_at=150.0)
    conversations = read_all(write_lines(path, [CHILD, other, PARENT]))
    assert [c.external_id for c in conversations] == ["p", "o"]
    assert [texts_of(s) for s in conversations[0].sessions] == [["one"], ["two"]]


def test_a_list_of_sessions_is_read_too(path: Path):
    assert len(read_all(write_json(path, [CHILD, PARENT]))) == 1


def test_a_child_without_its_parent_says_so(path: Path):
    conversation = read_one(write_json(path, CHILD))
    assert conversation.notes == ("parent_missing:p",)
    assert conversation.sessions[0].link is Link.ROOT


def test_a_truncated_last_line_is_noted_on_what_was_read(path: Path):
    write_lines(path, [PARENT, CHILD])
    with path.open("a") as stream:
        stream.write('{"id": "x", "sour')
    assert "truncated_last_line:3" in read_one(path).notes


@pytest.mark.parametrize("broken", [5, "text", None, ["list"]])
def test_a_message_that_is_no_object_is_an_error(path: Path, broken: Any):
    with pytest.raises(SourceError) as caught:
        read_all(write_json(path, PARENT | {"messages": [broken]}))
    assert caught.value.reason == "broken"


def test_a_line_that_is_no_session_is_named(path: Path):
    with pytest.raises(SourceError) as caught:
        read_all(write_lines(path, [PARENT, {"id": "x"}]))
    assert (caught.value.reason, caught.value.line) == ("broken", 2)


def test_a_snapshot_of_a_running_agent_has_its_tools_and_prompt(path: Path):
    document = {
        "session_id": "s1",
        "session_start": "2026-11-30T21:02:45",
        "platform": "cli",
        "system_prompt": "You are",
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "messages": [{"role": "user", "content": "hi"}],
    }
    conversation = read_one(write_json(path, document))
    (found,) = conversation.sessions
    assert (found.system_prompt, len(found.tools)) == ("You are", 1)
    assert conversation.external_id == "snapshot:s1"
