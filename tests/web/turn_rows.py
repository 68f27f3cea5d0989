"""Builders of turns and of what they show; every value can be given by name."""

from __future__ import annotations

from itertools import count
from typing import Any

from django.utils import timezone

from compaction.models import Endpoint, Session, Turn, TurnChunk

_numbers = count(1)


def a_turn(session: Session, **values: Any) -> Turn:
    """Store a turn of a session; it ended well just now unless told otherwise."""
    now = timezone.now()
    defaults = {
        "conversation": session.conversation,
        "session": session,
        "idempotency_key": f"turn-{next(_numbers)}",
        "text": "How many pears?",
        "status": "completed",
        "end": "completed",
        "endpoint": "primary",
        "iterations": 2,
        "attempt": 1,
        "queued_at": now,
        "started_at": now,
        "finished_at": now,
    }
    return Turn.objects.create(**{**defaults, **values})


def a_working_turn(session: Session, **values: Any) -> Turn:
    """Store a turn that asks a model at this moment."""
    defaults = {"status": "in_progress", "end": "", "step": "calling"}
    return a_turn(session, **{**defaults, "finished_at": None, **values})


def show(turn: Turn, kind: str, text: str = "", **data: Any) -> TurnChunk:
    """Store the next thing that a turn shows."""
    return TurnChunk.objects.create(
        turn=turn,
        number=turn.chunks.count() + 1,
        kind=kind,
        text=text,
        data=data,
        at=timezone.now(),
    )


def an_endpoint(**values: Any) -> Endpoint:
    """Store an endpoint that answers turns, at an address where nobody listens."""
    defaults = {
        "name": f"endpoint-{next(_numbers)}",
        "base_url": "http://127.0.0.1:1/v1",
        "model": "gpt-5-mini",
        "allow_private": True,
    }
    return Endpoint.objects.create(**{**defaults, **values})
