"""Whatever a file holds, only SourceError comes out, and what comes out can be kept."""

from __future__ import annotations

import copy
import json
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from compaction.engine.messages import from_storage, to_storage
from compaction.sources import (
    SourceConversation,
    SourceError,
    SourceLimits,
    detect,
    read_conversations,
    summarise_file,
)
from compaction.sources.values import REASONS
from tests.shared_data import HERMES_STATE, RAW_TRANSCRIPTS, files_in
from tests.sources.hermes_home import SCHEMA
from tests.sources.test_claude_code import Log, result, text, use
from tests.sources.test_codex import called, event, item, record, returned, said
from tests.sources.test_openhands import (
    condensed,
    ran,
    response,
    said as event_said,
    saw,
)
from tests.sources.test_pi import Tree

LIMITS = SourceLimits(messages=2_000, document_bytes=5_000_000, line_bytes=1_000_000)


def survive(content: bytes) -> list[SourceConversation]:
    """Read bytes as a file: either conversations that can be kept, or SourceError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.write_bytes(content)
        found: list[SourceConversation] = []
        try:
            for conversation in read_conversations(path, limits=LIMITS):
                check_keepable(conversation)
                found.append(conversation)
            detect(path, limits=LIMITS)
            summarise_file(path, limits=LIMITS)
        except SourceError as error:
            check_error(error, path)
        return found


def check_error(error: SourceError, path: Path) -> None:
    assert error.reason in REASONS
    assert error.path == str(path)
    assert error.detail


def check_keepable(conversation: SourceConversation) -> None:
    """Everything a store needs: short ids, whole chains, JSON of every value."""
    assert conversation.sessions
    assert 0 < len(conversation.external_id) <= 255
    for position, session in enumerate(conversation.sessions):
        assert session.parent == (position - 1 if position else None)
        assert session.generation == position + 1
        assert 0 < len(session.external_id) <= 255
        parent = conversation.sessions[position - 1] if position else None
        for entry in session.messages:
            raw = json.dumps(to_storage(entry.message), allow_nan=False)
            assert to_storage(from_storage(json.loads(raw))) == json.loads(raw)
            assert len(entry.external_id) <= 255
            assert entry.at is None or entry.at.tzinfo is not None
            if entry.origin is not None:
                assert parent is not None
                original = parent.messages[entry.origin].message
                assert original.content == entry.message.content
                assert original.tool_calls == entry.message.tool_calls
        json.dumps([dict(tool) for tool in session.tools], allow_nan=False)
        for label in (session.title, session.model, session.end_reason):
            check_label(label)
    for label in (conversation.title, conversation.agent, *conversation.notes):
        check_label(label)
    kept = [dict(conversation.meta), [dict(todo) for todo in conversation.todos]]
    json.dumps(kept, allow_nan=False).encode()
    ids = [session.external_id for session in conversation.sessions]
    assert len(set(ids)) == len(ids)


def check_label(label: str) -> None:
    label.encode()  # no lone surrogate
    assert "\x00" not in label
    assert len(label) <= 255


# Valid logs of every format, to be damaged


def _claude() -> list[dict[str, Any]]:
    log = Log()
    log.user("look")
    log.answer(use("a", file="x"), "m1")
    log.user(result("a", [text("seen")]))
    log.system("compact_boundary", compactMetadata={"preservedSegment": {}})
    log.user("This session is being continued", isCompactSummary=True)
    log.user("sub", isSidechain=True, parent=None)
    return log.records


def _codex() -> list[dict[str, Any]]:
    return [
        record("session_meta", id="r", cwd="/", instructions="x", git={"branch": "b"}),
        record("turn_context", model="m"),
        said("user", "hi"),
        item("reasoning", summary=[{"type": "summary_text", "text": "t"}]),
        called("a"),
        returned("a", [{"type": "input_text", "text": "y"}]),
        event("token_count", info={"last_token_usage": {"input_tokens": 5}}),
        event("thread_rolled_back", num_turns=1),
        record("compacted", message="s", replacement_history=[said("user", "q")]),
        said("assistant", "end"),
    ]


def _pi() -> list[dict[str, Any]]:
    tree = Tree()
    kept = tree.user("one")
    call = {"type": "toolCall", "id": "a", "name": "read", "arguments": {"p": 1}}
    tree.answer({"type": "thinking", "thinking": "t"}, call, usage={"input": 4})
    answer = {"role": "toolResult", "toolCallId": "a", "content": [{"text": "x"}]}
    tree.add("message", message=answer)
    tree.add("compaction", summary="s", firstKeptEntryId=kept)
    tree.add("branch_summary", summary="b", parent=kept)
    return tree.entries


def _openhands() -> dict[str, Any]:
    raw = response("r1", "a")
    history = [
        event_said(1, "go"),
        ran(2, "a", raw),
        saw(3, "a", raw, "seen"),
        condensed(4, forgotten_event_ids=[2], summary="s", summary_offset=1),
    ]
    return {"instance_id": "i", "history": history, "metadata": {"llm_config": {}}}


TALK: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "r"},
]
ROW = {"id": 1, "role": "user", "content": "x", "timestamp": 1.0, "tool_calls": []}
SESSION = {"id": "s", "source": "cli", "started_at": 1.0, "messages": [ROW]}

LINES: dict[str, list[dict[str, Any]]] = {
    "claude_code": _claude(),
    "codex": _codex(),
    "pi": _pi(),
    "openai_messages": TALK,
    "hermes_export": [SESSION, SESSION | {"id": "t", "parent_session_id": "s"}],
    "hermes_trajectory": [
        {
            "conversations": [
                {"from": "gpt", "value": "<think>t</think><tool_call>{}</tool_call>"},
                {"from": "tool", "value": "<tool_response>{}</tool_response>"},
            ]
        }
    ]
    * 2,
}
DOCUMENTS: dict[str, Any] = {
    "openai_messages": {"messages": TALK, "response": {"choices": [{}], "usage": {}}},
    "swe_agent": {
        "trajectory": [],
        "history": [*TALK, {"role": "user", "content": "", "tool_call_ids": "['a']"}],
        "replay_config": {"agent": {"model": {"name": "m"}}},
    },
    "mini_swe_agent": {
        "trajectory_format": "mini-swe-agent-1.1",
        "messages": [*TALK, {"role": "exit", "content": "d", "extra": {}}],
        "info": {"config": {"model": {}}, "exit_status": "x"},
    },
    "tau_bench": [{"task_id": 1, "trial": 0, "reward": 0.0, "traj": TALK}],
    "openhands": _openhands(),
    "hermes_export": SESSION | {"segments": [SESSION]},
}
SEEDS: list[tuple[str, Any]] = [
    *((name, lines) for name, lines in LINES.items()),
    *DOCUMENTS.items(),
]


def encode(name: str, value: Any) -> bytes:
    if LINES.get(name) is value or (isinstance(value, list) and name in LINES):
        return b"".join(json.dumps(r).encode() + b"\n" for r in value)
    return json.dumps(value).encode()


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed[0])
def test_every_seed_is_a_valid_log_of_its_format(seed: tuple[str, Any], tmp_path: Path):
    name, value = seed
    path = tmp_path / "log"
    path.write_bytes(encode(name, value))
    assert detect(path) == name
    assert survive(path.read_bytes())


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(["user", "assistant", "tool", "\ud800", "\x00", "x" * 300, ""]),
    st.just([]),
    st.just({}),
    st.just([[]]),
    st.just([None, 5, "x", {}]),
    st.just({"content": [{"content": [{"text": 5}]}]}),
    st.just([{"type": "tool_result"}, {"type": "text"}, {"type": "image"}]),
)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Give every (container, key) of a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in list(pairs):
        yield value, key
        if isinstance(child, dict | list):
            yield from _places(child)


@settings(max_examples=250)
@given(st.sampled_from(SEEDS), st.data())
def test_wrong_types_at_any_key_never_crash(seed: tuple[str, Any], data: Any):
    name, original = seed
    value = copy.deepcopy(original)
    for _ in range(data.draw(st.integers(1, 4))):
        places = list(_places(value))
        if not places:
            break
        container, key = data.draw(st.sampled_from(places))
        action = data.draw(st.sampled_from(["replace", "delete", "repeat"]))
        if action == "replace":
            container[key] = copy.deepcopy(data.draw(JUNK))
        elif action == "delete":
            del container[key]
        elif isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
    survive(encode(name, value))


@settings(max_examples=150)
@given(st.sampled_from(SEEDS), st.data())
def test_logs_cut_or_changed_anywhere_never_crash(seed: tuple[str, Any], data: Any):
    raw = bytearray(encode(*seed))
    for _ in range(data.draw(st.integers(0, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    survive(bytes(raw[: data.draw(st.integers(0, len(raw)))]))


@settings(max_examples=60)
@given(st.binary(max_size=300))
@example(b"{")
@example(b'{"a":' * 50_000)
@example(b"[" * 50_000)
@example(b'{"role": "user", "content": "' + b"\\ud83d" * 100 + b'"}')
def test_random_bytes_never_crash(content: bytes):
    survive(content)
    survive(b"{" + content)
    survive(b"SQLite format 3\x00" + content)


@settings(max_examples=60)
@given(st.lists(st.tuples(JUNK, JUNK, JUNK, JUNK, JUNK), max_size=6), st.data())
def test_database_rows_of_any_type_never_crash(rows: list[tuple[Any, ...]], data: Any):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        db = sqlite3.connect(path)
        db.executescript(SCHEMA.replace("NOT NULL", "").replace("UNIQUE", ""))
        db.executemany(
            "INSERT INTO sessions (id, source, title, model_config, started_at)"
            " VALUES ('s', ?, ?, ?, ?)",
            [tuple(_column(data.draw(JUNK)) for _ in range(4))],
        )
        query = (
            "INSERT INTO messages (session_id, role, content, tool_calls, timestamp,"
            " compacted, active) VALUES ('s', ?, ?, ?, ?, ?, 0)"
        )
        db.executemany(query, [tuple(map(_column, row)) for row in rows])
        db.execute("INSERT INTO messages (session_id, role) VALUES ('s', 'user')")
        db.commit()
        db.close()
        survive(path.read_bytes())


def _column(value: Any) -> Any:
    if isinstance(value, str) and "\ud800" in value:
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, list | dict):
        return json.dumps(value)
    is_large = isinstance(value, int) and abs(value) > 2**60
    return float(value) if is_large else value


REAL = [
    path
    for path in files_in(RAW_TRANSCRIPTS) + files_in(HERMES_STATE)
    if path.stat().st_size < 600_000 and path.name != "sample_events_last.jsonl"
]


# (sample_events_last.jsonl holds what a plugin reported, no conversation)
@pytest.mark.skipif(not REAL, reason="shared data absent (set HERMES_WEB_SHARED)")
@settings(max_examples=40)
@given(st.data())
def test_real_logs_cut_anywhere_never_crash(data: Any):
    path = data.draw(st.sampled_from(REAL))
    content = path.read_bytes()
    survive(content[: data.draw(st.integers(0, len(content)))])


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_every_real_log_can_be_kept(path: Path):
    assert survive(path.read_bytes())
