"""Invented conversations of foreign logs, as readers give them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from compaction.engine.messages import Kind, Message, Role, ToolCall
from compaction.services.imports.conversations import Imported, import_conversation
from compaction.services.imports.writing import Provenance
from compaction.sources.values import (
    Link,
    SourceConversation,
    SourceMessage,
    SourceSession,
)

BEGAN = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return BEGAN + timedelta(minutes=minutes)


def said(number: int, text: str = "", **facts: Any) -> SourceMessage:
    """Message `number` of an invented talk; users speak at even numbers."""
    role = Role.USER if number % 2 == 0 else Role.ASSISTANT
    message = Message(role=role, content=text or f"message {number} of the talk")
    return SourceMessage(message=message, at=at(number), **facts)


def tool_round(number: int, result: str) -> tuple[SourceMessage, SourceMessage]:
    """A call and its result."""
    call = ToolCall(id=f"c{number}", name="read_file", arguments='{"path": "a.py"}')
    asked = Message(role=Role.ASSISTANT, content="", tool_calls=(call,))
    answered = Message(role=Role.TOOL, content=result, tool_call_id=call.id)
    return (
        SourceMessage(message=asked, at=at(number)),
        SourceMessage(message=answered, at=at(number)),
    )


def summary_message(text: str) -> SourceMessage:
    message = Message(role=Role.ASSISTANT, content=text, kind=Kind.SUMMARY)
    return SourceMessage(message=message, at=at(500))


def talk(count: int) -> tuple[SourceMessage, ...]:
    return tuple(said(number) for number in range(count))


def session(
    messages: tuple[SourceMessage, ...], number: int = 1, **facts: Any
) -> SourceSession:
    return SourceSession(
        **{
            "external_id": f"talk-{number}",
            "generation": number,
            "parent": number - 2 if number > 1 else None,
            "link": Link.COMPACTION if number > 1 else Link.ROOT,
            "started_at": at(number),
            "messages": messages,
            "model": "gpt-4o",
            **facts,
        }
    )


def conversation(*sessions: SourceSession, **facts: Any) -> SourceConversation:
    return SourceConversation(
        **{
            "source": "hermes",
            "external_id": "talk-1",
            "title": "An invented talk",
            "agent": "Hermes Agent",
            "model": "gpt-4o",
            "sessions": sessions,
            **facts,
        }
    )


def bring_in(
    source: SourceConversation, *, now: datetime = NOW, label: str = "state.db"
) -> Imported:
    return import_conversation(source, Provenance(label=label, now=now))
