"""Messages of a session as a talk: the newest, and older ones a window at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models.functions import Substr

from compaction.engine.messages import Role
from compaction.engine.phases.redaction import redact
from compaction.models import Message, Session, Turn
from compaction.selectors.call_words import Call, write_calls

WINDOW_SIZE = 40
TEXT_CHARS = 6_000
RESULT_CHARS = 1_500
CALL_CHARS = 300
CALLS_SHOWN = 32
"""So much of a message is shown here; all of it is a link away."""

_COLUMNS = (
    *("position", "role", "kind", "calls", "tool_name", "images", "chars", "at"),
    *("tokens", "inactive", "dropped", "tool_call_id"),
)
_ROWS = Message.objects.values(*_COLUMNS, preview=Substr("text", 1, TEXT_CHARS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message, secrets masked; `is_cut` when its text goes on behind what is shown.

    `tool_name` is the tool that a result is of, '' where its call is not shown either.
    """

    position: int
    role: str
    kind: str
    text: str
    chars: int
    calls: Sequence[Call]
    tool_name: str
    images: int
    tokens: int
    at: datetime | None
    is_cut: bool

    @property
    def is_result(self) -> bool:
        """True for what a tool answered."""
        return self.role in (Role.TOOL.value, "function")


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A window of messages, oldest first; `earlier` leads to the one before it."""

    session: Session
    said: Sequence[Said]
    earlier: int | None


def read_talk(session: Session, *, before: int | None, until: int | None) -> Talk:
    """Read the newest messages before a position, none behind `until`; one query."""
    found = _ROWS.filter(session=session, inactive=False)
    if before is not None:
        found = found.filter(position__lt=before)
    if until is not None:
        found = found.filter(position__lte=until)
    rows = list(found.order_by("-position")[: WINDOW_SIZE + 1])
    has_more = len(rows) > WINDOW_SIZE
    shown = rows[:WINDOW_SIZE][::-1]
    names = {call[0]: call[1] for row in shown for call in row["calls"] if call[0]}
    return Talk(
        session=session,
        said=tuple(_said(row, names) for row in shown),
        earlier=shown[0]["position"] if has_more else None,
    )


def position_of(turn: Turn) -> int | None:
    """Return where the operator's message of a turn stands in its first session."""
    found = Message.objects.filter(
        session=turn.session_id, role=Role.USER.value, at=turn.queued_at
    )
    return found.order_by("-position").values_list("position", flat=True).first()


def _said(row: Mapping[str, Any], names: Mapping[str, str]) -> Said:
    is_result = row["role"] in (Role.TOOL.value, "function")
    limit = RESULT_CHARS if is_result else TEXT_CHARS
    return Said(
        position=row["position"],
        role=row["role"],
        kind=row["kind"],
        text=redact(row["preview"][:limit]),
        chars=row["chars"],
        calls=write_calls(row["calls"], most=CALLS_SHOWN, chars=CALL_CHARS),
        tool_name=row["tool_name"] or names.get(row["tool_call_id"], ""),
        images=row["images"],
        tokens=row["tokens"],
        at=row["at"],
        is_cut=row["chars"] > limit,
    )
