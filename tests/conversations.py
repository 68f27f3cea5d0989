"""Invented conversations, as engine values and as rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any

from compaction.engine.messages import Message, Role, ToolCall
from compaction.engine.tokens import RoughCounter
from compaction.models import Conversation, Session
from compaction.services.conversations import refresh_conversation
from compaction.store import NewMessage, write_messages

STARTED = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
_numbers = count(1)


def say(role: Role, text: str, **fields: Any) -> Message:
    """Make a message of text."""
    return Message(role=role, content=text, **fields)


def call(number: int, path: str = "src/part.py") -> Message:
    """Make an assistant message that reads a file."""
    made = ToolCall(
        id=f"call_{number}", name="read_file", arguments=f'{{"path": "{path}"}}'
    )
    return Message(role=Role.ASSISTANT, content="", tool_calls=(made,))


def answer(number: int, text: str) -> Message:
    """Make the result of `call(number)`."""
    return Message(role=Role.TOOL, content=text, tool_call_id=f"call_{number}")


def long_work(rounds: int = 40, words: int = 120) -> list[Message]:
    """Make a conversation of one task with many tool rounds, each answer another."""
    messages = [
        say(Role.SYSTEM, "You tidy the Orchard sample project."),
        say(Role.USER, "Rename every helper and tell me what is left."),
    ]
    for number in range(rounds):
        text = " ".join(f"line{number}_{word}" for word in range(words))
        messages += [call(number, f"src/part_{number}.py"), answer(number, text)]
        if number % 8 == 7:
            messages += [
                say(Role.ASSISTANT, f"Finished part {number}."),
                say(Role.USER, f"Good. Keep the names of part {number} short."),
            ]
    return [*messages, say(Role.ASSISTANT, "Working on the last part.")]


def long_talk(turns: int = 80, words: int = 400) -> list[Message]:
    """Make a conversation without tools, too large for shortening to help."""
    messages = [say(Role.SYSTEM, "You plan the Orchard sample project.")]
    for number in range(turns):
        text = " ".join(f"thought{number}_{word}" for word in range(words))
        messages += [
            say(Role.USER, f"What about row {number}?"),
            say(Role.ASSISTANT, text),
        ]
    return messages


def store_session(
    messages: Sequence[Message] | None = None,
    *,
    window: int = 32_000,
    counter: Any = None,
    **conversation: Any,
) -> Session:
    """Store a conversation with one session, its tip."""
    number = next(_numbers)
    owner = Conversation.objects.create(
        **{
            "source": "openai",
            "external_id": f"conversation-{number}",
            "title": f"Orchard {number}",
            "model": "gpt-4o",
            "window": window,
            "active_at": STARTED,
            **conversation,
        }
    )
    session = Session.objects.create(
        id=f"20261101_090000_{number:06x}",
        conversation=owner,
        title=owner.title,
        model=owner.model,
        started_at=STARTED,
    )
    new = [NewMessage(message=message, at=STARTED) for message in messages or []]
    write_messages(session, new, counter=counter or RoughCounter())
    owner.tip = session
    owner.save()
    refresh_conversation(owner)
    return session
