"""Small log files that tests write, and short ways to read one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from compaction.engine.messages import Message
from compaction.sources import SourceConversation, SourceLimits, read_conversations
from compaction.sources.values import SourceSession


def write_json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    text = "".join(json.dumps(record) + "\n" for record in records)
    path.write_text(text, encoding="utf-8")
    return path


def read_all(
    path: Path, limits: SourceLimits | None = None
) -> list[SourceConversation]:
    return list(read_conversations(path, limits=limits or SourceLimits()))


def read_one(path: Path) -> SourceConversation:
    (conversation,) = read_conversations(path)
    return conversation


def messages_of(session: SourceSession) -> list[Message]:
    return [item.message for item in session.messages]


def texts_of(session: SourceSession) -> list[str]:
    return [message.text for message in messages_of(session)]


def roles_of(session: SourceSession) -> list[str]:
    return [message.role.value for message in messages_of(session)]


def calls_of(session: SourceSession) -> list[str]:
    return [call.id for message in messages_of(session) for call in message.tool_calls]
