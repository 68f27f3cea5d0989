"""The messages of a new generation: copied from the old one where nothing changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from compaction.engine.messages import Message as EngineMessage
from compaction.engine.tokens import TokenCounter
from compaction.models import Message, Session
from compaction.store.message_rows import NewMessage
from compaction.store.messages import SIZE_COLUMNS, Measured, note_size, save_rows

_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The messages of a session to come.

    `origins` holds, for each message, its position in `before`, or None for a new
    one; `at` is the moment that new messages bear.
    """

    before: Sequence[EngineMessage]
    messages: Sequence[EngineMessage]
    origins: Sequence[int | None]
    at: datetime


def write_generation(
    child: Session, parent: Session, generation: Generation, *, counter: TokenCounter
) -> int:
    """Write the messages of `child`, each with its origin in `parent`.

    An unchanged message is copied column by column, word for word; an edited one (a
    shortened result, a system note) is measured anew and keeps its origin.
    """
    copier = _Copier(parent=parent, generation=generation, counter=counter)
    written = save_rows(child, copier.rows())
    note_size(child, copier.measured)
    child.save(update_fields=SIZE_COLUMNS)
    return written


class _Copier:
    def __init__(
        self, *, parent: Session, generation: Generation, counter: TokenCounter
    ) -> None:
        self.parent = parent
        self.generation = generation
        self.measured = Measured(counter=counter)
        self._rows = _rows_at(parent, generation.origins)

    def rows(self) -> list[Message]:
        made = self.generation
        pairs = zip(made.messages, made.origins, strict=True)
        return [self._row(message, origin) for message, origin in pairs]

    def _row(self, message: EngineMessage, origin: int | None) -> Message:
        self._remember_calls(message)
        if origin is None:
            return self.measured.row(NewMessage(message=message, at=self.generation.at))
        row = self._rows[origin]
        if message == self.generation.before[origin]:
            return self.measured.place(self._copy(row))
        place = (self.parent.pk, origin)
        new = NewMessage(
            message=message, at=row.at, external_id=row.external_id, origin=place
        )
        return self.measured.row(new)

    def _remember_calls(self, message: EngineMessage) -> None:
        self.measured.calls.update((call.id, call) for call in message.tool_calls)

    def _copy(self, row: Message) -> Message:
        row.pk = None
        row._state.adding = True
        row.source_digest = ""  # what it was imported from is the parent's matter
        row.origin_session = self.parent
        row.origin_position = row.position
        return row


def _rows_at(session: Session, origins: Sequence[int | None]) -> dict[int, Message]:
    """Load the rows at some positions and no others: the middle may be huge."""
    wanted = sorted({origin for origin in origins if origin is not None})
    found: dict[int, Message] = {}
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        rows = Message.objects.filter(session=session, position__in=batch)
        found.update((row.position, row) for row in rows)
    return found
