"""Turns of the stories: what an operator asked, and what recovery could do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from compaction.models import RecoveryEvent, Session, Turn, TurnChunk

PRIMARY, FALLBACK = "primary", "fallback"
_TOOK = timedelta(seconds=40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A move of the recovery, with what was before and after it."""

    kind: RecoveryEvent.Kind
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTurn:
    """A turn as it is written down; its errors are the troubles of the story."""

    text: str
    end: str
    answer: str = ""
    endpoint: str = PRIMARY
    tokens: tuple[int, int] = (0, 0)
    moves: tuple[Move, ...] = ()


def write_turn(
    session: Session, told: ToldTurn, errors: Sequence[RecoveryEvent], ended: datetime
) -> Turn:
    """Store a turn that ended, with its errors and moves; may set the fallback."""
    is_good = told.end == "completed"
    began = ended - _TOOK
    turn = Turn.objects.create(
        conversation=session.conversation,
        session=session,
        idempotency_key=f"demo:{session.pk}",
        text=told.text,
        status=Turn.Status.COMPLETED if is_good else Turn.Status.FAILED,
        end=told.end,
        step=Turn.Step.CALLING if is_good else Turn.Step.COMPACTING,
        endpoint=told.endpoint,
        window=session.conversation.window,
        iterations=1 if told.answer else 0,
        input_tokens=told.tokens[0],
        output_tokens=told.tokens[1],
        attempt=1,
        queued_at=began,
        started_at=began,
        finished_at=ended,
    )
    moves = [_write_move(session, move, ended - _TOOK / 2) for move in told.moves]
    events = [*errors, *moves]
    for number, event in enumerate(events):
        event.turn, event.at = turn, began + _TOOK * (number + 1) / (len(events) + 1)
        event.save(update_fields=["turn", "at"])
    _write_chunks(turn, told, events)
    _keep_endpoint(session, told, ended)
    return turn


def _write_move(session: Session, move: Move, at: datetime) -> RecoveryEvent:
    return RecoveryEvent.objects.create(
        session=session,
        at=at,
        kind=move.kind,
        before=move.before,
        after=move.after,
        endpoint=move.after if move.kind == "failed_over" else PRIMARY,
    )


def _write_chunks(turn: Turn, told: ToldTurn, events: Sequence[RecoveryEvent]) -> None:
    shown: list[dict[str, Any]] = [
        {"kind": "event", "data": {"event": event.pk}, "at": event.at}
        for event in events
    ]
    if told.answer:
        shown.append({"kind": "text", "text": told.answer, "at": turn.finished_at})
    for number, chunk in enumerate(shown, 1):
        TurnChunk.objects.create(turn=turn, number=number, **chunk)


def _keep_endpoint(session: Session, told: ToldTurn, ended: datetime) -> None:
    """An operator went on in this copy; where its calls go is kept with it."""
    conversation = session.conversation
    is_on_fallback = told.endpoint != PRIMARY
    conversation.may_continue = True
    conversation.endpoint_state = {
        "current": told.endpoint,
        "on_fallback": is_on_fallback,
        "limited_until": 0.0,
        "since": (ended - _TOOK / 2).timestamp() if is_on_fallback else None,
        "windows": {},
    }
    conversation.save(update_fields=["may_continue", "endpoint_state"])
