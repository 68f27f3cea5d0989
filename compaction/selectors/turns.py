"""Turns for pages: one with all that it shows, and the newest of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from compaction.engine.phases.redaction import redact
from compaction.models import (
    Conversation,
    RecoveryEvent,
    Run,
    Turn,
    TurnCall,
    TurnChunk,
)
from compaction.selectors.call_words import write_arguments

ACTIVE = (Turn.Status.QUEUED, Turn.Status.IN_PROGRESS)
SHOWN_CHUNKS = 2_000
"""A page shows this many of the newest things of a turn; the messages hold all."""
ARGUMENTS_CHARS = 600

_TURNS = Turn.objects.select_related(
    "conversation__tip", "session", "requested_by"
).defer("conversation__endpoint_state", "conversation__import_notes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that a turn did, as a page shows it.

    `kind` is a TurnChunk's; of a call, `result` and `result_chars` are None and 0 while
    it runs. `number` is that of the first chunk, and the name of the element. Secrets
    are masked in arguments and results; text that streams in is shown as it comes.
    """

    number: int
    kind: str
    at: datetime
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    arguments: str = ""
    result: str | None = None
    result_chars: int = 0
    event: RecoveryEvent | None = None
    run: Run | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDetail:
    """A turn, what it did step by step, and its calls."""

    turn: Turn
    steps: Sequence[Step]
    left_out: int
    events: Sequence[RecoveryEvent]
    runs: Sequence[Run]
    open_call: TurnCall | None


def find_turn(turn_id: UUID) -> Turn | None:
    """Return a turn with its conversation, or None."""
    return _TURNS.filter(pk=turn_id).first()


def newest_turn(conversation: Conversation) -> Turn | None:
    """Return the turn that was asked for last, or None."""
    found = _TURNS.filter(conversation=conversation)
    return found.order_by("-queued_at", "-pk").first()


def newest_turns(conversation: Conversation, count: int) -> list[Turn]:
    """Return the newest turns, newest first."""
    found = _TURNS.filter(conversation=conversation)
    return list(found.order_by("-queued_at", "-pk")[:count])


def turn_detail(turn: Turn) -> TurnDetail:
    """Return all that the page of a turn shows; a fixed number of queries."""
    count = turn.chunks.count()
    chunks = list(turn.chunks.order_by("-number")[:SHOWN_CHUNKS])
    chunks.reverse()
    return TurnDetail(
        turn=turn,
        steps=tuple(steps_of(chunks)),
        left_out=max(0, count - len(chunks)),
        events=tuple(turn.events.order_by("at", "pk")),
        runs=tuple(_runs(turn.runs.values_list("pk", flat=True)).values()),
        open_call=turn.calls.filter(ended_at=None).order_by("-number").first(),
    )


def chunks_after(turn_id: UUID, number: int, most: int = 500) -> list[TurnChunk]:
    """Return what was shown after a number, in order."""
    found = TurnChunk.objects.filter(turn_id=turn_id, number__gt=number)
    return list(found.order_by("number")[:most])


def steps_of(chunks: Sequence[TurnChunk]) -> Iterator[Step]:
    """Join pieces of text, and results with their calls; two queries at most."""
    events = _events(chunks)
    runs = _runs(chunk.data.get("run") for chunk in chunks if chunk.kind == "run")
    results = _results(chunks)
    told = {result.number for result in results.values()}
    text: Step | None = None
    for chunk in chunks:
        if chunk.kind == TurnChunk.Kind.TEXT:
            text = _more(text, chunk)
            continue
        if text is not None:
            yield text
            text = None
        # Results stand in their calls; a stored answer only ends its text.
        if chunk.number not in told and chunk.kind != TurnChunk.Kind.ANSWER:
            yield _step(chunk, events, runs, results)
    if text is not None:
        yield text


def _more(text: Step | None, chunk: TurnChunk) -> Step:
    if text is None:
        return Step(number=chunk.number, kind="text", at=chunk.at, text=chunk.text)
    return replace(text, text=text.text + chunk.text)


def _results(chunks: Iterable[TurnChunk]) -> dict[int, TurnChunk]:
    """Give each call, by number, the first result of its id that follows it."""
    waiting: dict[str, list[int]] = {}
    found: dict[int, TurnChunk] = {}
    for chunk in chunks:
        call = str(chunk.data.get("id", ""))
        if chunk.kind == TurnChunk.Kind.CALL:
            waiting.setdefault(call, []).append(chunk.number)
        elif chunk.kind == TurnChunk.Kind.RESULT and waiting.get(call):
            found[waiting[call].pop(0)] = chunk
    return found


def _step(
    chunk: TurnChunk,
    events: Mapping[int, RecoveryEvent],
    runs: Mapping[str, Run],
    results: Mapping[int, TurnChunk],
) -> Step:
    result = results.get(chunk.number)
    return Step(
        number=chunk.number,
        kind=chunk.kind,
        at=chunk.at,
        text=redact(chunk.text),
        data=chunk.data,
        arguments=_arguments(chunk),
        result=redact(result.text) if result else None,
        result_chars=int(result.data.get("chars") or 0) if result else 0,
        event=events.get(int(chunk.data.get("event") or 0)),
        run=runs.get(str(chunk.data.get("run", ""))),
        until=_moment(chunk.data.get("until")),
    )


def _arguments(chunk: TurnChunk) -> str:
    given = chunk.data.get("arguments")
    return write_arguments(given, chars=ARGUMENTS_CHARS) if given else ""


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)) if text else None
    except ValueError:
        return None


def _events(chunks: Iterable[TurnChunk]) -> dict[int, RecoveryEvent]:
    wanted = [chunk.data.get("event") for chunk in chunks if chunk.kind == "event"]
    return RecoveryEvent.objects.in_bulk([pk for pk in wanted if pk]) if wanted else {}


def _runs(wanted: Iterable[Any]) -> dict[str, Run]:
    ids = [pk for pk in wanted if pk]
    if not ids:
        return {}
    rows = Run.objects.filter(pk__in=ids).order_by("queued_at")
    heavy = ("ledger", "findings", "prompt", "policy", "usage")
    return {str(run.pk): run for run in rows.defer(*heavy)}


def call_of(result: TurnChunk) -> TurnChunk | None:
    """Return the call that a result belongs to: the newest of its id before it."""
    calls = TurnChunk.objects.filter(
        turn_id=result.turn_id, kind=TurnChunk.Kind.CALL, number__lt=result.number
    )
    wanted = str(result.data.get("id", ""))
    newest = calls.order_by("-number")[:64]
    return next((one for one in newest if str(one.data.get("id", "")) == wanted), None)


def newest_run_chunk(turn_id: UUID, number: int) -> TurnChunk | None:
    """Return the newest compaction shown up to a number, or None."""
    found = TurnChunk.objects.filter(
        turn_id=turn_id, kind=TurnChunk.Kind.RUN, number__lte=number
    )
    return found.order_by("-number").first()
