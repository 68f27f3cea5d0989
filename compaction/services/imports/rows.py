"""Foreign messages as rows: measured before a transaction begins, since that is slow.

Nothing here writes a message; only token counts are looked up and remembered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.engine.messages import Message as EngineMessage
from compaction.models import Message
from compaction.services.imports.matching import Fate, Match
from compaction.services.token_counts import BatchCounts
from compaction.sources.values import SourceMessage, SourceSession
from compaction.store import NewMessage
from compaction.store.messages import Measured

_BATCH = 500
_AHEAD_CHARS = 2_000

OnRows = Callable[[int], None]
"""Told how many messages were measured since the last time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a foreign session goes: its own id with us, and its foreign parent's."""

    pk: str
    foreign_parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A matched session with its new rows, placed and measured."""

    match: Match
    place: Place
    rows: Sequence[Message]
    measured: Measured
    system_tokens: int
    tools_tokens: int


def prepare(
    match: Match, place: Place, counter: BatchCounts, *, on_rows: OnRows
) -> Prepared:
    """Measure what is new in a session."""
    first = match.shared if match.fate is Fate.GROWN else 0
    measured = _measured_up_to(match, first, counter)
    batches = list(_batches(match, first))
    rows: list[Message] = []
    counted = counter.run(map(_long_texts, batches))
    for batch, _ in zip(batches, counted, strict=True):
        rows += [_row(match, place, measured, item) for item in batch]
        on_rows(len(batch))
    counter.save()
    session = match.session
    return Prepared(
        match=match,
        place=place,
        rows=rows,
        measured=measured,
        system_tokens=_count(session.system_prompt, counter),
        tools_tokens=_count(_tools_text(session), counter),
    )


def _measured_up_to(match: Match, first: int, counter: BatchCounts) -> Measured:
    messages = [item.message for item in match.session.messages[:first]]
    return Measured(
        counter=counter,
        position=first,
        tokens=match.held.tokens if match.held and first else 0,
        calls={call.id: call for message in messages for call in message.tool_calls},
    )


def _batches(match: Match, first: int) -> Iterator[Sequence[SourceMessage]]:
    messages = match.session.messages
    if match.fate is Fate.SAME:
        return
    for start in range(first, len(messages), _BATCH):
        yield messages[start : start + _BATCH]


def _long_texts(batch: Sequence[SourceMessage]) -> list[str]:
    """The texts that are worth being counted ahead; short ones are counted at once."""
    contents = (item.message.content for item in batch)
    return [c for c in contents if isinstance(c, str) and len(c) >= _AHEAD_CHARS]


def _row(
    match: Match, place: Place, measured: Measured, item: SourceMessage
) -> Message:
    position = measured.position
    row = measured.row(
        NewMessage(
            message=_unmarked(item.message),
            at=item.at,
            external_id=item.external_id,
            origin=_origin(match, place, item, position),
            inactive=item.inactive,
        )
    )
    row.source_digest = match.digests[position]
    return row


def _unmarked(message: EngineMessage) -> EngineMessage:
    """Pins and drops are an operator's; a foreign log cannot set them."""
    if message.pinned or message.dropped:
        return message.evolve(pinned=False, dropped=False)
    return message


def _origin(
    match: Match, place: Place, item: SourceMessage, position: int
) -> tuple[str, int] | None:
    if match.fate is Fate.BRANCHED and match.held and position < match.shared:
        return match.held.pk, position
    if item.origin is not None and place.foreign_parent is not None:
        return place.foreign_parent, item.origin
    return None


def _count(text: str, counter: BatchCounts) -> int:
    return counter.count(text) if text else 0


def _tools_text(session: SourceSession) -> str:
    tools: list[Any] = [dict(tool) for tool in session.tools]
    return json.dumps(tools, ensure_ascii=False, default=str) if tools else ""
