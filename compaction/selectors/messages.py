"""Messages of a session in windows: numbers from the plan, previews from the rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models.functions import Substr

from compaction.engine.ledger import LedgerEntry, Region
from compaction.engine.phases.redaction import redact
from compaction.models import Message, Session
from compaction.selectors.call_words import write_calls
from compaction.selectors.plans import Picture

WINDOW_SIZE = 50
PREVIEW_CHARS = 400
CALLS_SHOWN = 4
SHOWS = (
    *("all", "user", "assistant", "tool", "system"),
    *("pruned", "kept", "pinned", "dropped"),
)
"""What a list of messages may be narrowed to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """One message of the list; equal rows are drawn alike.

    `text` is its first characters, `chars` how many there are; `rule`, `pruned` and
    `detail` are the ledger's codes; `tokens_after` is None where the message stays.
    """

    position: int
    role: str
    kind: str
    text: str
    chars: int
    calls: tuple[tuple[str, str], ...]
    call_count: int
    tool_name: str
    images: int
    at: datetime | None
    is_pinned: bool
    is_rewound: bool
    region: str
    rule: str
    pruned: str
    detail: tuple[tuple[str, int], ...]
    tokens: int
    tokens_after: int | None

    @property
    def more_calls(self) -> int:
        """How many calls the list leaves out."""
        return self.call_count - len(self.calls)

    @property
    def fate(self) -> str:
        """The chip: what happens to the message."""
        if self.kind == "summary":
            return "summary"
        if self.pruned and self.tokens_after is not None:
            return "pruned"
        return "pinned" if self.is_pinned else self.region

    @property
    def detail_of(self) -> Mapping[str, int]:
        """The numbers that the rule's sentence needs."""
        return dict(self.detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWindow:
    """Some neighbours among the messages that are shown.

    `first` and `last` are ordinal numbers from 1 among `total`; `earlier_at` and
    `later_at` positions that open the neighbouring windows, None at the ends.
    """

    rows: Sequence[MessageRow]
    show: str
    first: int
    last: int
    total: int
    earlier_at: int | None
    later_at: int | None

    @property
    def first_position(self) -> int | None:
        """Position of the first message, None when there is none."""
        return self.rows[0].position if self.rows else None

    @property
    def last_position(self) -> int | None:
        """Position of the last message, None when there is none."""
        return self.rows[-1].position if self.rows else None


def read_window(
    session: Session, picture: Picture, *, at: int, show: str
) -> MessageWindow:
    """Read the window around the position `at`; one query, no body.

    Windows begin at multiples of their size, so that an address keeps its content.
    """
    positions = picture.shown.get(show, ())
    index = min(bisect_left(positions, at), max(len(positions) - 1, 0))
    start = index // WINDOW_SIZE * WINDOW_SIZE
    wanted = positions[start : start + WINDOW_SIZE]
    before, after = start - WINDOW_SIZE, start + WINDOW_SIZE
    return MessageWindow(
        rows=_read_rows(session, picture, wanted),
        show=show,
        first=start + 1 if wanted else 0,
        last=start + len(wanted),
        total=len(positions),
        earlier_at=positions[before] if before >= 0 else None,
        later_at=positions[after] if after < len(positions) else None,
    )


_COLUMNS = (
    *("position", "role", "kind", "calls", "tool_name", "images", "chars", "at"),
    *("pinned", "inactive", "tokens"),
)

# Built once: building a query costs more than asking it.
_ROWS = Message.objects.order_by("position").values(
    *_COLUMNS, preview=Substr("text", 1, PREVIEW_CHARS)
)


def _read_rows(
    session: Session, picture: Picture, wanted: Sequence[int]
) -> tuple[MessageRow, ...]:
    found = _ROWS.filter(session=session, position__in=wanted)
    return tuple(
        _row_of(values, picture.ledger[values["position"]], picture)
        for values in found
        if values["position"] < len(picture)
    )


def _row_of(
    values: Mapping[str, Any], entry: LedgerEntry, picture: Picture
) -> MessageRow:
    return MessageRow(
        position=entry.position,
        role=values["role"],
        kind=values["kind"],
        text=redact(values["preview"]),
        chars=values["chars"],
        calls=write_calls(values["calls"], most=CALLS_SHOWN, chars=PREVIEW_CHARS),
        call_count=len(values["calls"]),
        tool_name=values["tool_name"],
        images=values["images"],
        at=values["at"],
        is_pinned=values["pinned"],
        is_rewound=values["inactive"],
        region=entry.region.value,
        rule=entry.rule.value,
        pruned=entry.pruned.value,
        detail=tuple(entry.detail.items()),
        tokens=values["tokens"] if values["inactive"] else entry.tokens,
        tokens_after=_after(entry, picture),
    )


def _after(entry: LedgerEntry, picture: Picture) -> int | None:
    """Tokens once shortened or left out; None where the message stays as it is."""
    if not picture.plan.changes:
        return None
    if entry.region is Region.DROPPED:
        return 0
    if entry.pruned:
        return picture.outline[entry.position].pruned_tokens
    return None
