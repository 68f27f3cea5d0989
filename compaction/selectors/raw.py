"""Messages as they are sent: OpenAI JSON in windows, findings, and a whole export."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, TextField, Value, When
from django.db.models.functions import Length

from compaction.engine.messages import to_dict
from compaction.engine.phases.redaction import redact
from compaction.engine.validation import Finding, validate
from compaction.models import Message, Session
from compaction.selectors.recent import Recent
from compaction.store import load_messages
from compaction.store.message_rows import read_body

WINDOW_SIZE = 50
CLIPPED_CHARS = 1_500
"""Characters of a message's JSON in the list; its own page shows more."""

READ_AT_ONCE = 500_000
"""Characters of a stored message up to which the list reads it at all."""

CHECKED_AT_ONCE = 2_000
"""Messages that are validated without being asked to: it reads every body."""

_EXPORT_BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RawMessage:
    """One message as JSON; `is_clipped` where the list shows only its beginning."""

    position: int
    role: str
    text: str  # empty for a message too large for the list
    chars: int
    is_clipped: bool
    is_sent: bool  # False for what was dropped or rewound

    @property
    def peek(self) -> str:
        """Its beginning in one line, without the role, which stands beside it."""
        line = " ".join(self.text[:400].split())
        return line.partition(", ")[2].rstrip("} ") if ", " in line else line


@dataclass(frozen=True, slots=True, kw_only=True)
class RawWindow:
    """Some neighbours; `earlier_at`, `later_at` open the windows beside it."""

    rows: Sequence[RawMessage]
    total: int
    earlier_at: int | None
    later_at: int | None

    @property
    def first(self) -> int | None:
        """Position of the first message shown."""
        return self.rows[0].position if self.rows else None

    @property
    def last(self) -> int | None:
        """Position of the last message shown."""
        return self.rows[-1].position if self.rows else None


def read_raw_window(session: Session, *, at: int) -> RawWindow:
    """Read the window around a position; one query."""
    total = session.message_count
    start = min(at, max(total - 1, 0)) // WINDOW_SIZE * WINDOW_SIZE
    rows = Message.objects.filter(
        session=session, position__gte=start, position__lt=start + WINDOW_SIZE
    )
    sized = rows.order_by("position").annotate(size=Length("body"))
    found = sized.values(*_SHORT, "size", fitting=_FITS)
    after = start + WINDOW_SIZE
    return RawWindow(
        rows=tuple(_clip(row) for row in found),
        total=total,
        earlier_at=max(0, start - WINDOW_SIZE) if start else None,
        later_at=after if after < total else None,
    )


# A window of huge messages must not load them all to show the beginning of each.
_SHORT = ("position", "role", "dropped", "inactive")
_FITS = Case(
    When(size__lte=READ_AT_ONCE, then="body"),
    default=Value(""),
    output_field=TextField(),
)


def _clip(row: Mapping[str, Any]) -> RawMessage:
    text = _as_json(row["fitting"]) if row["fitting"] else ""
    chars = len(text) or row["size"]
    return RawMessage(
        position=row["position"],
        role=row["role"],
        text=text[:CLIPPED_CHARS],
        chars=chars,
        is_clipped=chars > CLIPPED_CHARS,
        is_sent=not (row["dropped"] or row["inactive"]),
    )


def _as_json(body: str) -> str:
    message = read_body(body, pinned=False, dropped=False)
    return json.dumps(to_dict(message), ensure_ascii=False, indent=2)


def read_raw_message(session: Session, position: int) -> str | None:
    """Return one message as JSON, None when there is none."""
    rows = Message.objects.filter(session=session, position=position)
    body = rows.values_list("body", flat=True).first()
    return None if body is None else _as_json(body)


_findings: Recent[tuple[Finding, ...]] = Recent(
    lambda found: len(found) + 1, limit=20_000
)


def findings_of(session: Session) -> tuple[Finding, ...]:
    """Validate what the session would send; reads every body, once for a revision."""
    key = (session.pk, session.revision, session.message_count, session.tokens)
    return _findings.get(key, lambda: _check(session))


def _check(session: Session) -> tuple[Finding, ...]:
    """Validate without what is not sent; positions are those of the session."""
    messages = load_messages(session)
    places = [i for i, message in enumerate(messages) if not message.dropped]
    found = validate([messages[place] for place in places])
    return tuple(
        Finding(fault=f.fault, position=places[f.position], detail=f.detail)
        for f in found
    )


def write_export(session: Session, *, is_redacted: bool) -> Iterator[str]:
    """Write what the session would send as one JSON list, piece by piece.

    Redaction masks secrets in every text; ASCII escapes keep lone surrogates exact.
    """
    clean = _redact_values if is_redacted else _leave
    opening = "[\n"
    for body in _sent_bodies(session):
        message = to_dict(read_body(body, pinned=False, dropped=False))
        yield opening + json.dumps(clean(message), ensure_ascii=True)
        opening = ",\n"
    yield "[]\n" if opening == "[\n" else "\n]\n"


def _sent_bodies(session: Session) -> Iterator[str]:
    """Bodies in order, some at a time: no cursor stays open while a client reads."""
    rows = Message.objects.filter(session=session, dropped=False, inactive=False)
    columns = rows.order_by("position").values_list("position", "body")
    place = -1
    while batch := list(columns.filter(position__gt=place)[:_EXPORT_BATCH]):
        yield from (body for _, body in batch)
        place = batch[-1][0]


def _leave(value: Any) -> Any:
    return value


def _redact_values(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _redact_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redact_values(item) for item in value]
    return value
