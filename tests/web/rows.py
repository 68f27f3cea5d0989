"""Builders of rows that pages show; every value can be given by name."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from compaction.engine.messages import Kind, Message, Role, ToolCall
from compaction.engine.tokens import RoughCounter
from compaction.models import Conversation, Session
from compaction.services.conversations import refresh_conversation
from compaction.store import NewMessage, write_messages

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_numbers = count(1)


def a_conversation(**values: Any) -> Conversation:
    """Store a conversation with one session, its tip, without messages."""
    number = next(_numbers)
    session_id = values.pop("session_id", f"20261130_1200{number % 60:02}_{number:06x}")
    defaults = {
        "source": "hermes",
        "external_id": f"external-{number}",
        "title": f"Conversation {number}",
        "model": "gpt-5-mini",
        "active_at": NOON + timedelta(seconds=number),
        "threshold": 100_000,
    }
    conversation = Conversation.objects.create(**{**defaults, **values})
    conversation.tip = Session.objects.create(
        id=session_id,
        conversation=conversation,
        title=conversation.title,
        started_at=NOON,
        tokens=conversation.tokens,
    )
    conversation.save()
    return conversation


def many_conversations(number: int, **values: Any) -> None:
    """Store many conversations quickly, without sessions."""
    base = next(_numbers) * 1_000_000
    Conversation.objects.bulk_create(
        Conversation(
            **{
                "source": "hermes",
                "external_id": f"many-{base + index}",
                "title": f"Many {index:06}",
                "active_at": NOON + timedelta(seconds=index),
                **values,
            }
        )
        for index in range(number)
    )


def titles(rows: Iterable[Any]) -> list[str]:
    """Return the titles of list rows, in order."""
    return [row.facts.title for row in rows]


def user(text: str) -> Message:
    """A message of the user."""
    return Message(role=Role.USER, content=text)


def assistant(text: str = "", *, call: str = "", **values: Any) -> Message:
    """A message of the assistant, with one call if it is given an id."""
    calls = (ToolCall(id=call, name="read_file", arguments='{"path": "a.py"}'),)
    return Message(
        role=Role.ASSISTANT,
        content=text or None,
        tool_calls=calls if call else (),
        **values,
    )


def result(call: str, text: str) -> Message:
    """The result of a call."""
    return Message(role=Role.TOOL, content=text, tool_call_id=call)


def summary(text: str) -> Message:
    """A running summary."""
    return Message(role=Role.ASSISTANT, content=text, kind=Kind.SUMMARY)


def system(text: str) -> Message:
    """A system prompt."""
    return Message(role=Role.SYSTEM, content=text)


def a_talk(turns: int, *, words: int = 40) -> list[Message]:
    """A system prompt and turns of user, call, result and answer."""
    talk = [system("You help.")]
    for turn in range(turns):
        talk += [
            user(f"Question {turn}: " + "what is in it? " * 3),
            assistant(call=f"c{turn}"),
            result(f"c{turn}", f"line {turn}\n" + "data " * words),
            assistant(f"Answer {turn}. " + "It says so. " * 5),
        ]
    return talk


def a_session(
    messages: Iterable[Message] = (), *, session: Session | None = None, **values: Any
) -> Session:
    """Store messages as the tip of a new conversation, or as those of a session."""
    here = session or a_conversation(**values).tip
    assert here is not None
    new = (NewMessage(message=message) for message in messages)
    write_messages(here, new, counter=RoughCounter())
    refresh_conversation(here.conversation)
    return Session.objects.select_related("conversation").get(pk=here.pk)


def a_successor(
    parent: Session, messages: Iterable[Message] = (), **values: Any
) -> Session:
    """Store a session that goes on where another was compacted; it is the tip."""
    number = next(_numbers)
    defaults = {
        "link": Session.Link.COMPACTION,
        "generation": parent.generation + 1,
        "compactions": parent.compactions + 1,
        "title": f"{parent.title} #{parent.generation + 1}",
        "started_at": NOON + timedelta(hours=number),
    }
    child = Session.objects.create(
        id=f"20261130_1300{number % 60:02}_{number:06x}",
        conversation=parent.conversation,
        parent=parent,
        **{**defaults, **values},
    )
    child.conversation.tip = child
    child.conversation.save()
    return a_session(messages, session=child)
