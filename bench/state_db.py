"""A `state.db` of Hermes with many messages, and what copying it plainly costs.

Messages have the columns and the indexes that Hermes 0.19 gives them; its own search
index is left out on both sides of the copy, which is the plainest there is.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from bench.inputs import SEED, Shape, make_messages

SESSION_MESSAGES = 2_000
_STARTED = 1_790_000_000.0  # seconds since 1970

_SCHEMA = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, system_prompt TEXT,
    parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
    title TEXT
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content TEXT,
    tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, effect_disposition TEXT,
    timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT, reasoning TEXT,
    reasoning_content TEXT, reasoning_details TEXT, codex_reasoning_items TEXT,
    codex_message_items TEXT, platform_message_id TEXT, observed INTEGER DEFAULT 0,
    active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0,
    api_content TEXT
);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
CREATE INDEX idx_messages_session_active ON messages(session_id, active, timestamp);
CREATE INDEX idx_messages_platform_msg_id ON messages(session_id, platform_message_id)
    WHERE platform_message_id IS NOT NULL;
"""
_COLUMNS = "session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp"
_INSERT = f"INSERT INTO messages ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_TEXTS = slice(3, 6)  # content, tool_call_id and tool_calls of a whole row


def write_state_db(path: Path, messages: int) -> Path:
    """Write sessions of 2,000 messages until there are so many."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(_SCHEMA)
        written = 0
        while written < messages:
            count = min(SESSION_MESSAGES, messages - written)
            _write_session(database, written // SESSION_MESSAGES, count)
            written += count
        database.commit()
    return path


def _write_session(database: sqlite3.Connection, number: int, count: int) -> None:
    started = _STARTED + number * 86_400
    name = f"20260921_{number:06d}_{number:06x}"
    shape = Shape(messages=count + 1, chars=200)
    system, *messages = make_messages(shape, SEED + number)
    database.execute(
        "INSERT INTO sessions (id, source, model, system_prompt, started_at, title)"
        " VALUES (?, 'cli', 'gpt-5', ?, ?, ?)",
        (name, system["content"], started, f"Task {number}"),
    )
    database.executemany(
        _INSERT, (_row(name, m, started + i) for i, m in enumerate(messages))
    )


def _row(session: str, message: dict[str, Any], at: float) -> tuple[Any, ...]:
    calls = message.get("tool_calls")
    return (
        session,
        message["role"],
        message["content"],
        message.get("tool_call_id"),
        json.dumps(calls) if calls else None,
        "terminal" if message["role"] == "tool" else None,
        at,
    )


def copy_plainly(source: Path, target: Path, count: Callable[[str], int]) -> int:
    """Copy the same rows with sqlite3 alone, counting tokens; return their sum."""
    with (
        closing(sqlite3.connect(source)) as old,
        closing(sqlite3.connect(target)) as new,
    ):
        new.executescript(_SCHEMA)
        rows = old.execute("SELECT * FROM messages ORDER BY id")
        insert = f"INSERT INTO messages VALUES ({', '.join('?' * 21)})"
        total = 0
        for batch in _batches(rows):
            total += sum(count(text) for row in batch for text in row[_TEXTS] if text)
            new.executemany(insert, batch)
        new.commit()
    return total


def _batches(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    while batch := list(islice(rows, 1_000)):
        yield batch
