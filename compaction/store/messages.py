"""Messages of a session: written with their numbers, read with or without bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from compaction.engine.messages import Message as EngineMessage, ToolCall
from compaction.engine.outline import MessageFacts, Outline, facts_of
from compaction.engine.tokens import TokenCounter
from compaction.models import Message, Session
from compaction.store.bulk_insert import insert_messages
from compaction.store.message_rows import (
    FACT_COLUMNS,
    NewMessage,
    facts_from,
    read_body,
    rewound_facts,
    row_of,
)
from compaction.store.search_index import index_texts, searchable

_BATCH = 500
_CALLS_LOOKED_BACK = 200  # messages in which the call of an appended result is found


def load_messages(session: Session) -> list[EngineMessage]:
    """Read all messages with their bodies, in order; rewound ones come as dropped."""
    rows = Message.objects.filter(session=session).order_by("position")
    columns = rows.values_list("body", "pinned", "dropped", "inactive")
    return [
        read_body(body, pinned=pinned and not inactive, dropped=dropped or inactive)
        for body, pinned, dropped, inactive in columns.iterator(chunk_size=2000)
    ]


def load_sent(session: Session) -> list[EngineMessage]:
    """Read what an agent goes on with: all but the messages that it took back."""
    rows = Message.objects.filter(session=session, inactive=False).order_by("position")
    columns = rows.values_list("body", "pinned", "dropped")
    return [
        read_body(body, pinned=pinned, dropped=dropped)
        for body, pinned, dropped in columns.iterator(chunk_size=2000)
    ]


def load_outline(session: Session) -> Outline:
    """Read the numbers of all messages, and never a body."""
    rows = Message.objects.filter(session=session).order_by("position")
    found = rows.values_list(*FACT_COLUMNS).iterator(chunk_size=2000)
    return Outline(map(facts_from, found))


@dataclass(slots=True, kw_only=True)
class Measured:
    """Rows measured so far: where the next one goes, and what all of them weigh.

    `facts` are the numbers of the messages that were measured, as `load_outline` will
    read them.
    """

    counter: TokenCounter
    position: int = 0
    tokens: int = 0
    calls: dict[str, ToolCall] = field(default_factory=dict)
    facts: list[MessageFacts] = field(default_factory=list)

    def row(self, new: NewMessage) -> Message:
        """Measure one message and return its row, placed behind the last one."""
        message = new.message
        call = self.calls.get(message.tool_call_id or "")
        facts = facts_of(message, self.counter, call=call)
        self.facts.append(rewound_facts(message.role) if new.inactive else facts)
        for made in message.tool_calls:
            self.calls[made.id] = made
        return self.place(row_of(new, facts))

    def place(self, row: Message) -> Message:
        """Give a measured row its position and running total."""
        if not row.inactive:
            self.tokens += row.tokens
        row.position = self.position
        row.cumulative_tokens = self.tokens
        self.position += 1
        return row


def write_messages(
    session: Session, messages: Iterable[NewMessage], *, counter: TokenCounter
) -> int:
    """Append messages to a session and return how many they were.

    Counts, tokens and revision of the session are brought up to date and saved. Call
    it in a transaction: what it writes is whole or not at all.
    """
    measured = measured_so_far(session, counter)
    added = save_rows(session, (measured.row(new) for new in messages))
    note_size(session, measured)
    session.revision += 1
    session.save(update_fields=[*SIZE_COLUMNS, "revision"])
    return added


SIZE_COLUMNS = ("message_count", "tokens", "tokens_origin", "encoding")


def note_size(session: Session, measured: Measured) -> None:
    """Set the columns of a session that say how large it is; does not save."""
    session.message_count = measured.position
    session.tokens = measured.tokens
    session.tokens_origin = measured.counter.origin.value
    session.encoding = measured.counter.name[:32]


def measured_so_far(session: Session, counter: TokenCounter) -> Measured:
    """Return where the next message of a session goes, and what stands before it."""
    last = Message.objects.filter(session=session).order_by("-position").first()
    if last is None:
        return Measured(counter=counter)
    return Measured(
        counter=counter,
        position=last.position + 1,
        tokens=last.cumulative_tokens,
        calls=_recent_calls(session),
    )


def _recent_calls(session: Session) -> dict[str, ToolCall]:
    rows = Message.objects.filter(session=session).order_by("-position")
    recent = list(rows.values_list("body", flat=True)[:_CALLS_LOOKED_BACK])
    messages = (read_body(body, pinned=False, dropped=False) for body in recent[::-1])
    return {call.id: call for message in messages for call in message.tool_calls}


def save_rows(session: Session, rows: Iterable[Message]) -> int:
    """Insert placed rows in batches, and make the new texts among them searchable."""
    added = 0
    for batch in _batches(rows):
        for row in batch:
            row.session_id = session.pk
        insert_messages(batch)
        added += len(batch)
        index_texts(
            (row.pk, searchable(row.text, row.calls))
            for row in batch
            if row.origin_position is None
        )
    return added


def _batches(rows: Iterable[Message]) -> Iterator[Sequence[Message]]:
    waiting = iter(rows)
    while batch := list(islice(waiting, _BATCH)):
        yield batch


def open_calls_at_end(session: Session) -> tuple[ToolCall, ...]:
    """Return the calls of the newest message that no result has answered."""
    rows = Message.objects.filter(session=session, inactive=False)
    answered: set[str] = set()
    newest = rows.order_by("-position").values_list("body", flat=True)
    for body in newest[:_CALLS_LOOKED_BACK]:
        message = read_body(body, pinned=False, dropped=False)
        if not message.is_result:
            return tuple(c for c in message.tool_calls if c.id not in answered)
        answered.add(message.tool_call_id or "")
    return ()
