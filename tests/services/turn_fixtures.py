"""A conversation of the console's own agent, and ways to play turns over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import pytest

from compaction import wiring
from compaction.models import Conversation, Endpoint, Session, Turn
from compaction.services.turns.starting import TurnRequest, queue_turn
from compaction.services.turns.work import perform_turn
from tests.conversations import store_session
from tests.server.replies import Reply, tool_call
from tests.server.scripted_openai import ScriptedOpenAI

_keys = count(1)


@pytest.fixture
def second_openai() -> Iterator[ScriptedOpenAI]:
    """A second endpoint, to fail over to."""
    server = ScriptedOpenAI().start()
    yield server
    server.stop()


@pytest.fixture
def endpoint(scripted_openai: ScriptedOpenAI, db: None) -> ScriptedOpenAI:
    """The scripted server as the one endpoint of turns; it writes no summaries."""
    Endpoint.objects.create(
        name="scripted",
        base_url=scripted_openai.base_url,
        model="scripted",
        allow_private=True,
    )
    return scripted_openai


@pytest.fixture
def waits(monkeypatch) -> list[float]:
    """Note waits instead of waiting."""
    noted: list[float] = []

    def note(self: Any, seconds: float) -> None:
        noted.append(seconds)
        self._stream.check()

    monkeypatch.setattr("compaction.services.turns.recorder.TurnRecorder.wait", note)
    return noted


def use_endpoints(monkeypatch, *servers: ScriptedOpenAI, window: int = 128_000) -> None:
    """Let these servers answer turns, the first as the primary."""
    names = ("primary", "fallback", "second-fallback")
    specs = tuple(
        wiring.EndpointSpec(
            name=name, base_url=server.base_url, model="scripted", window=window
        )
        for name, server in zip(names, servers, strict=False)
    )
    monkeypatch.setattr(wiring, "turn_endpoints", lambda: specs)


def own_session(messages: Sequence[Any] = (), **conversation: Any) -> Session:
    """Store a conversation of the console's own agent."""
    conversation.setdefault("window", 128_000)
    conversation.setdefault("policy_overrides", {"memory_flush": False})
    session = store_session(messages, source="console", **conversation)
    Session.objects.filter(pk=session.pk).update(system_prompt="You tidy the Orchard.")
    session.refresh_from_db()
    return session


def ask(conversation: Conversation, text: str = "Go on.", **request: Any) -> Turn:
    """Queue a turn."""
    key = request.pop("key", f"key-{next(_keys)}")
    return queue_turn(conversation, TurnRequest(text=text, key=key, **request))


def play(session: Session, text: str = "Go on.", **request: Any) -> Turn:
    """Queue a turn and do it at once; returns it as it is stored then."""
    turn = ask(session.conversation, text, **request)
    perform_turn(turn.pk)
    turn.refresh_from_db()
    return turn


def says(text: str, **values: Any) -> Reply:
    """An answer in words."""
    return Reply(text=text, **values)


def calls(*named: tuple[str, str], **values: Any) -> Reply:
    """An answer that calls tools: (name, arguments), ids counted on."""
    made = tuple(
        tool_call(name, arguments, f"call_{next(_keys)}") for name, arguments in named
    )
    return Reply(tool_calls=made, finish_reason="tool_calls", **values)
