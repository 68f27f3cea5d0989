"""What a reader gives back: one conversation of a foreign log as plain values.

A reader turns a path into these values and knows nothing of the database. Times are
aware UTC datetimes, tokens are as the foreign log states them (None when it is silent).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from compaction.engine.messages import Message


class Link(StrEnum):
    """How a session hangs on its parent."""

    ROOT = "root"
    COMPACTION = "compaction"  # rotation: a new id per compaction
    IN_PLACE = "in_place"  # one foreign id, older generations archived under it
    BRANCH = "branch"  # a fork or a sub-agent: no compaction lies between


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMessage:
    """One message with what the foreign log knows beside it.

    `origin` is the position in the parent session of which this message is a verbatim
    copy; `usage_tokens` the provider's prompt tokens if the log has them;
    `inactive` a message the agent itself rewound (shown, never planned or sent).
    """

    message: Message
    at: datetime | None = None
    external_id: str = ""
    usage_tokens: int | None = None
    origin: int | None = None
    inactive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCooldown:
    """A summary cooldown that the foreign agent is in."""

    until: datetime
    error: str = ""
    failures: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSession:
    """One generation of a conversation, oldest first in `SourceConversation`.

    `summary` is the running summary's bare text (prefix and end marker removed) when
    this generation carries one; its message has kind=summary, or carries it in
    `carried_summary` when it was merged into another message. The system prompt is in
    `system_prompt` only when the log keeps it apart from the messages.
    """

    external_id: str
    generation: int = 1
    parent: int | None = None  # index of the parent in the conversation's sessions
    link: Link = Link.ROOT
    title: str = ""
    model: str = ""
    system_prompt: str = ""
    tools: tuple[Mapping[str, Any], ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    end_reason: str = ""
    messages: tuple[SourceMessage, ...] = ()
    summary: str = ""
    usage_tokens: int | None = None  # newest real prompt size, tokens
    cooldown: SourceCooldown | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceConversation:
    """A whole lineage of a foreign log: a chain, oldest session first.

    Each session but the first hangs on the one before it; the last one is the tip.
    A branch or a sub-agent is a conversation of its own whose first session has
    `Link.BRANCH`, and `meta["branch_of"]` names the session it left.
    """

    source: str  # "hermes", "claude_code", "codex", …
    external_id: str
    title: str = ""
    agent: str = ""
    model: str = ""
    window: int | None = None
    sessions: tuple[SourceSession, ...] = ()
    task_goal: str = ""
    todos: tuple[Mapping[str, Any], ...] = ()  # {"id", "subject", "status"}
    notes: tuple[str, ...] = ()  # what the reader repaired or skipped, code strings
    meta: Mapping[str, Any] = field(default_factory=dict)


class SourceError(Exception):
    """A file that cannot be read: which file, which line (1-based) and why.

    `reason` is a short code (see `REASONS`) for the templates, `detail` plain text.
    """

    def __init__(
        self, path: str, reason: str, detail: str = "", *, line: int | None = None
    ) -> None:
        place = f"{path}:{line}" if line else path
        super().__init__(f"{place}: {detail or reason}")
        self.path = path
        self.reason = reason
        self.detail = detail
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLimits:
    """How much of a foreign file is read before it is refused as too large.

    Sizes in bytes; `messages` per conversation; `depth` of nested JSON values.
    """

    file_bytes: int = 4 << 30  # a database or a log read line by line
    document_bytes: int = 256 << 20  # one JSON document, held in memory whole
    line_bytes: int = 64 << 20
    messages: int = 500_000
    depth: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """What a file holds, told without importing it; None where telling is dear."""

    format: str
    size: int  # bytes
    conversations: int | None = None
    messages: int | None = None


REASONS = (
    "not_found",
    "not_readable",
    "empty",
    "too_large",
    "too_deep",
    "unknown_format",
    "broken",
    "no_messages",
    "locked",
)
"""Every reason a SourceError can have."""
