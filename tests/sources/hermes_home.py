"""A Hermes database that tests write the way Hermes does.

Messages are dicts as the agent holds them. One that was loaded from the database has a
`timestamp`; one that the running process made has none and gets the time of writing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SUMMARY_OPENING = "[CONTEXT COMPACTION — REFERENCE ONLY]"
PREAMBLE = f"{SUMMARY_OPENING} Earlier turns were compacted — avoid repeating it:"
END = "--- END OF CONTEXT SUMMARY — respond to the message below ---"
MERGED_OPENING = "[PRIOR CONTEXT — for reference only; not a new message]"
MERGED_DELIMITER = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"

SCHEMA = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT,
    system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL,
    ended_at REAL, end_reason TEXT, title TEXT, cwd TEXT,
    compression_failure_cooldown_until REAL, compression_failure_error TEXT,
    compression_fallback_streak INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT,
    timestamp REAL NOT NULL, finish_reason TEXT, reasoning TEXT,
    reasoning_content TEXT, reasoning_details TEXT, codex_reasoning_items TEXT,
    observed INTEGER DEFAULT 0, active INTEGER NOT NULL DEFAULT 1,
    compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT
);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
CREATE TABLE session_model_usage (
    session_id TEXT NOT NULL, model TEXT NOT NULL, task TEXT NOT NULL DEFAULT '',
    api_call_count INTEGER, input_tokens INTEGER, output_tokens INTEGER,
    PRIMARY KEY (session_id, model, task)
);
CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO schema_version VALUES (22);
"""
COLUMNS = (
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "timestamp",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "api_content",
)


def summary_text(body: str) -> str:
    return f"{PREAMBLE}\n{body}\n\n{END}"


def merged_text(own: str, body: str) -> str:
    return f"{MERGED_OPENING}\n{own}\n\n{MERGED_DELIMITER}\n\n{summary_text(body)}"


def call(call_id: str, name: str = "terminal", **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def asks(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def says(text: str, *calls: Mapping[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": text}
    return said | ({"tool_calls": json.dumps(calls)} if calls else {})


def answers(call_id: str, text: str, name: str = "terminal") -> dict[str, Any]:
    return {
        "role": "tool",
        "content": text,
        "tool_call_id": call_id,
        "tool_name": name,
    }


class HermesHome:
    """A `state.db` and a clock that only tests move."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = 1_796_072_000.0
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA synchronous=OFF")
        self.db.executescript(SCHEMA)

    def session(self, session_id: str = "20261130_100000_aaaaaa", **fields: Any) -> str:
        self.now += 1
        row = {"source": "cli", "model": "m-1", "started_at": self.now} | fields
        self._insert("sessions", {"id": session_id} | row)
        return session_id

    def write(self, session_id: str, *messages: Mapping[str, Any]) -> list[int]:
        """Append messages one by one, as turns go by; return their row ids."""
        written = []
        for message in messages:
            self.now += 1
            written.append(self._write_row(session_id, message, self.now))
        return written

    def _write_row(self, session_id: str, message: Mapping[str, Any], at: float) -> int:
        row = {"session_id": session_id} | dict(message)
        if row.get("timestamp") is None:
            row["timestamp"] = at
        return self._insert("messages", row)

    def load(self, session_id: str) -> list[dict[str, Any]]:
        """Return the live messages as Hermes holds them after a restart."""
        query = (
            f"SELECT {', '.join(COLUMNS)} FROM messages"
            " WHERE session_id = ? AND active = 1 ORDER BY id"
        )
        rows = self.db.execute(query, (session_id,))
        return [dict(zip(COLUMNS, row, strict=True)) for row in rows]

    def compact_in_place(
        self, session_id: str, messages: Iterable[Mapping[str, Any]]
    ) -> None:
        """Archive what is live, insert the new list (Hermes' archive_and_compact)."""
        self.now += 1
        at = self.now
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute(
            "UPDATE messages SET active = 0, compacted = 1"
            " WHERE session_id = ? AND active = 1",
            (session_id,),
        )
        for message in messages:
            own = message.get("timestamp")
            self._write_row(session_id, message, at)
            at = max(at + 1e-6, (own or 0) + 1e-6)
        self.db.execute("COMMIT")

    def rewind(self, *row_ids: int) -> None:
        """Take rows back, as /undo does."""
        marks = ",".join("?" * len(row_ids))
        self.db.execute(
            f"UPDATE messages SET active = 0 WHERE id IN ({marks})", row_ids
        )

    def rotate(self, parent: str, child: str, *messages: Mapping[str, Any]) -> str:
        """End a session with `compression` and continue it under a new id."""
        self.now += 1
        self.db.execute(
            "UPDATE sessions SET ended_at = ?, end_reason = 'compression' WHERE id = ?",
            (self.now, parent),
        )
        self.session(child, parent_session_id=parent)
        for message in messages:
            self._write_row(child, message, self.now)
            self.now += 1e-6
        return child

    def _insert(self, table: str, row: Mapping[str, Any]) -> int:
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        query = f"INSERT INTO {table} ({names}) VALUES ({marks})"
        return self.db.execute(query, tuple(row.values())).lastrowid or 0

    def meta(self, key: str, value: str) -> None:
        self.db.execute("INSERT INTO state_meta VALUES (?, ?)", (key, value))
