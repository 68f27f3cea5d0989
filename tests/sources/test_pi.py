"""pi's sessions: compactions of three versions, the tree, shell commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compaction.engine.messages import Kind
from compaction.sources import SourceError, SourceLimits
from compaction.sources.values import Link
from tests.sources.files import (
    messages_of,
    read_all,
    read_one,
    roles_of,
    texts_of,
    write_lines,
)

AT = "2026-01-02T03:04:05.000Z"
HEADER = {"type": "session", "id": "pi-1", "timestamp": AT, "cwd": "/w"}


class Tree:
    """Entries of version 3, each hanging on the one before."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = [HEADER | {"version": 3}]
        self.leaf: str | None = None

    def add(self, kind: str, *, parent: str | None = None, **fields: Any) -> str:
        entry_id = f"e{len(self.entries)}"
        entry = {
            "type": kind,
            "id": entry_id,
            "parentId": parent or self.leaf,
            "timestamp": AT,
        }
        self.entries.append(entry | fields)
        self.leaf = entry_id
        return entry_id

    def user(self, text: str, **fields: Any) -> str:
        return self.add("message", message={"role": "user", "content": text}, **fields)

    def answer(self, *blocks: dict[str, Any], **message: Any) -> str:
        raw = {"role": "assistant", "content": list(blocks), "model": "claude-x"}
        return self.add("message", message=raw | message)


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def v1(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": role, "content": content} | fields
    return {"type": "message", "timestamp": AT, "message": message}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_calls_and_results_get_their_openai_names(path: Path):
    call = {"type": "toolCall", "id": "a", "name": "read", "arguments": {"p": "x"}}
    result = {"toolCallId": "a", "toolName": "read", "isError": True}
    entries = [
        HEADER,
        v1("user", [text("look")]),
        v1("assistant", [{"type": "thinking", "thinking": "hm"}, text("ok"), call]),
        v1("toolResult", [text("no file")], **result),
    ]
    (session,) = read_one(write_lines(path, entries)).sessions
    assert roles_of(session) == ["user", "assistant", "tool"]
    _, answer, returned = messages_of(session)
    assert (answer.text, answer.reasoning) == ("ok", "hm")
    assert answer.tool_calls[0].arguments == '{"p": "x"}'
    assert returned.tool_call_id == "a"
    assert returned.extra == {"name": "read", "is_error": True}


def test_a_compaction_of_version_1_names_the_first_kept_line(path: Path):
    compaction = {
        "type": "compaction",
        "timestamp": AT,
        "summary": "# so far",
        "firstKeptEntryIndex": 3,  # the header counts
        "tokensBefore": 9,
    }
    entries = [
        HEADER,
        v1("user", "one"),
        v1("assistant", [text("two")]),
        v1("user", "three"),
        v1("assistant", [text("four")]),
        compaction,
        v1("user", "five"),
    ]
    first, second = read_one(write_lines(path, entries)).sessions
    assert texts_of(first) == ["one", "two", "three", "four"]
    assert texts_of(second)[1:] == ["three", "four", "five"]
    assert [m.origin for m in second.messages] == [None, 2, 3, None]
    assert second.summary == "# so far"
    assert messages_of(second)[0].kind is Kind.SUMMARY
    assert (first.end_reason, second.link) == ("compression", Link.IN_PLACE)


def test_a_compaction_of_version_3_names_the_first_kept_entry(path: Path):
    tree = Tree()
    tree.user("one")
    kept = tree.user("two")
    tree.add("compaction", summary="# s1", firstKeptEntryId=kept, tokensBefore=9)
    tree.user("three")
    tree.add("compaction", summary="# s2", firstKeptEntryId=kept, tokensBefore=9)
    sessions = read_one(write_lines(path, tree.entries)).sessions
    assert [s.summary for s in sessions] == ["", "# s1", "# s2"]
    assert [texts_of(s)[1:] for s in sessions[1:]] == [
        ["two", "three"],
        ["two", "three"],
    ]
    assert [s.external_id for s in sessions] == ["pi-1", "pi-1@2", "pi-1@3"]


def test_entries_off_the_path_are_inactive_and_keep_their_place(path: Path):
    tree = Tree()
    fork = tree.user("one")
    tree.user("left behind")
    tree.user("went back", parent=fork)
    (session,) = read_one(write_lines(path, tree.entries)).sessions
    assert texts_of(session) == ["one", "left behind", "went back"]
    assert [m.inactive for m in session.messages] == [False, True, False]


def test_a_compaction_off_the_path_opens_nothing(path: Path):
    tree = Tree()
    fork = tree.user("one")
    tree.add("compaction", summary="# dead", firstKeptEntryId=fork)
    tree.user("after", parent=fork)
    assert len(read_one(write_lines(path, tree.entries)).sessions) == 1


def test_what_no_person_wrote_is_synthetic(path: Path):
    tree = Tree()
    shell = {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 2}
    tree.user("/look")
    tree.add("message", message=shell)
    tree.add("message", message=shell | {"excludeFromContext": True})
    tree.add("custom_message", customType="note", content="from a hook", display=False)
    tree.add("branch_summary", fromId="e1", summary="what that branch did")
    tree.add("label", targetId="e1", label="here")
    (session,) = read_one(write_lines(path, tree.entries)).sessions
    kinds = [m.message.kind.value for m in session.messages]
    assert kinds == ["plain"] + ["synthetic"] * 4
    assert [m.inactive for m in session.messages] == [False, False, True, False, False]
    assert "Exit code 2" in texts_of(session)[1]


def test_an_aborted_answer_keeps_why(path: Path):
    tree = Tree()
    tree.user("go")
    tree.answer(stopReason="aborted", errorMessage="Request was aborted")
    (_, answer) = messages_of(read_one(write_lines(path, tree.entries)).sessions[0])
    assert answer.content is None
    assert answer.extra == {"finish_reason": "aborted", "error": "Request was aborted"}


def test_usage_name_and_fork_are_read(path: Path):
    tree = Tree()
    tree.entries[0] = tree.entries[0] | {"parentSession": "/w/other.jsonl"}
    tree.user("hi")
    usage = {"input": 5, "cacheRead": 1_000, "cacheWrite": 200, "output": 9}
    tree.answer(text("yes"), usage=usage)
    tree.add("session_info", name="A good name")
    conversation = read_one(write_lines(path, tree.entries))
    assert conversation.title == "A good name"
    assert conversation.meta["branch_of"] == "/w/other.jsonl"
    assert conversation.sessions[0].link is Link.BRANCH
    assert conversation.sessions[0].usage_tokens == 1_205
    assert conversation.model == "claude-x"


def test_compactions_that_keep_everything_cannot_multiply_without_end(path: Path):
    tree = Tree()
    first = tree.user("x")
    for _ in range(200):
        tree.add("compaction", summary="s", firstKeptEntryId=first)
    with pytest.raises(SourceError) as caught:
        read_all(write_lines(path, tree.entries), SourceLimits(messages=1_000))
    assert caught.value.reason == "too_large"
