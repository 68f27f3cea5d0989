"""A Hermes `state.db`, read while Hermes writes it: read-only, short transactions.

Never `immutable`: with a writer's WAL beside it, committed rows would be missing.
Columns differ between Hermes versions (they are added at every start), so everything is
selected by the names that are there.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from compaction.sources.fields import count, label
from compaction.sources.hermes_rows import COLUMNS
from compaction.sources.values import SourceError, SourceLimits

BUSY_SECONDS = 5.0
"""How long to wait for a writer that holds the whole database."""

_SESSION_COLUMNS = (
    "id",
    "source",
    "model",
    "model_config",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "title",
    "cwd",
    "git_branch",
    "profile_name",
    "compression_failure_cooldown_until",
    "compression_failure_error",
    "compression_fallback_streak",
)
_USAGE_COLUMNS = (
    "session_id",
    "model",
    "task",
    "api_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "estimated_cost_usd",
    "actual_cost_usd",
)
_STEPS = 1_000_000  # of SQLite's machine between two looks at the effort
_STEPS_PER_BYTE = 20  # a real database needs about a quarter of one
_FREE_STEPS = 100_000_000
_NEEDED = {"sessions": {"id"}, "messages": {"id", "session_id", "role", "content"}}
_REASONS = {
    sqlite3.SQLITE_BUSY: ("locked", "another program holds the database"),
    sqlite3.SQLITE_LOCKED: ("locked", "another program holds the database"),
    sqlite3.SQLITE_CANTOPEN: (
        "not_readable",
        "cannot be opened; a database in WAL mode needs write access to its folder",
    ),
    sqlite3.SQLITE_PERM: ("not_readable", "no permission"),
    sqlite3.SQLITE_READONLY: ("not_readable", "its folder cannot be written"),
    sqlite3.SQLITE_NOTADB: ("broken", "damaged: not a database"),
    sqlite3.SQLITE_CORRUPT: ("broken", "damaged database"),
    sqlite3.SQLITE_TOOBIG: ("too_large", "a value is larger than the limit"),
    sqlite3.SQLITE_INTERRUPT: ("too_large", "reading it takes far too many steps"),
}


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into a SourceError of this file."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as exc:
        code = getattr(exc, "sqlite_errorcode", 0) & 0xFF
        reason, detail = _REASONS.get(code, ("broken", "unreadable database"))
        raise SourceError(str(path), reason, f"{detail} ({exc})") from exc


class HermesDatabase:
    """An open database; use as a context manager."""

    def __init__(self, path: Path, limits: SourceLimits) -> None:
        self.path = path
        self.limits = limits
        self._steps_left = _FREE_STEPS

    def __enter__(self) -> HermesDatabase:
        with sqlite_errors(self.path):
            self._open()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._db.close()

    def _open(self) -> None:
        self._steps_left += self.path.stat().st_size * _STEPS_PER_BYTE
        uri = f"{self.path.absolute().as_uri()}?mode=ro"
        self._db = sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None
        )
        try:
            length = min(self.limits.line_bytes, 2**31 - 1)
            self._db.set_progress_handler(self._spend, _STEPS)
            self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, length)
            for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON"):
                self._db.execute(f"PRAGMA {pragma}")
            self._columns = {table: self._table_columns(table) for table in _TABLES}
        except BaseException:
            self._db.close()
            raise

    def _spend(self) -> bool:
        """Count the effort; true ends the query (no index, or one made to hang us)."""
        self._steps_left -= _STEPS
        return self._steps_left < 0

    def _table_columns(self, table: str) -> frozenset[str]:
        """Return the columns of a real table (a view may hide anything)."""
        query = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
        found = self._db.execute(query, (table,)).fetchone()
        if found is None or str(found[0]).upper().startswith("CREATE VIRTUAL"):
            return frozenset()
        info = self._db.execute(f"PRAGMA table_info({table})")
        return frozenset(row[1] for row in info)

    @property
    def is_hermes(self) -> bool:
        """True when the tables are those of Hermes."""
        return all(needed <= self._columns[name] for name, needed in _NEEDED.items())

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Read several tables at one moment; keep it short."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.rollback()

    def sessions(self) -> list[dict[str, Any]]:
        """Return all sessions without their system prompts, NULL fields left out."""
        return self._select("sessions", _SESSION_COLUMNS, "ORDER BY id")

    def session(self, session_id: object) -> dict[str, Any]:
        """Return one session with its system prompt, as it is now."""
        columns = (*_SESSION_COLUMNS, "system_prompt")
        rows = self._select("sessions", columns, "WHERE id = ?", (session_id,))
        return rows[0] if rows else {"id": session_id}

    def messages(self, session_id: object) -> list[dict[str, Any]]:
        """Return the rows of one session in the order in which they were written.

        By id, never by timestamp: copies keep their old timestamps.
        """
        limit = self.limits.messages
        where = f"WHERE session_id = ? ORDER BY id LIMIT {limit + 1}"
        rows = self._select("messages", COLUMNS, where, (session_id,))
        if len(rows) > limit:
            detail = f"more than {limit:,} messages in session {session_id}"
            raise SourceError(str(self.path), "too_large", detail)
        return rows

    def newest_message(self, session_id: object) -> float:
        """Return the timestamp of a session's newest message (0.0 without any)."""
        if "timestamp" not in self._columns["messages"]:
            return 0.0
        query = "SELECT max(timestamp) FROM messages WHERE session_id = ?"
        found = self._db.execute(query, (session_id,)).fetchone()[0]
        return float(found) if isinstance(found, int | float) else 0.0

    def usage(self, session_id: object) -> list[dict[str, Any]]:
        """Return what a session spent, per model and task."""
        where = "WHERE session_id = ?"
        return self._select("session_model_usage", _USAGE_COLUMNS, where, (session_id,))

    def goal(self, session_id: object) -> object:
        """Return the stored JSON of a session's goal."""
        where = "WHERE key = ?"
        rows = self._select("state_meta", ("value",), where, (f"goal:{session_id}",))
        return rows[0]["value"] if rows else None

    def counts(self) -> tuple[int, int]:
        """Return how many sessions and messages there are."""
        query = (
            "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM messages)"
        )
        sessions, messages = self._db.execute(query).fetchone()
        return sessions, messages

    def _select(
        self,
        table: str,
        columns: Sequence[str],
        rest: str,
        values: Sequence[object] = (),
    ) -> list[dict[str, Any]]:
        present = [name for name in columns if name in self._columns[table]]
        if not present:
            return []
        query = f"SELECT {', '.join(present)} FROM {table} {rest}"
        try:
            rows = self._db.execute(query, values).fetchall()
        except sqlite3.OperationalError as exc:
            if "decode" not in str(exc):
                raise
            self._db.text_factory = _lenient_text
            rows = self._db.execute(query, values).fetchall()
        return [
            {name: value for name, value in zip(present, row) if value is not None}  # noqa: B905
            for row in rows
        ]


_TABLES = ("sessions", "messages", "session_model_usage", "state_meta")


def _lenient_text(raw: bytes) -> str:
    """Read text that is not UTF-8: lone surrogates stay, other bytes are replaced."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")


def usage_entry(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a usage row without its empty fields."""
    entry = {key: _fact(value) for key, value in row.items()}
    return {key: value for key, value in entry.items() if value not in ("", 0)}


def _fact(value: object) -> object:
    number = count(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    return label(value) if number is None else number
