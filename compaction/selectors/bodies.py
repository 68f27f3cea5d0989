"""One message in full, in pieces that a page can hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compaction.engine.messages import (
    Message as EngineMessage,
    ToolCall,
    is_image,
    parts_of,
    to_dict,
)
from compaction.models import Message, Session
from compaction.store.message_rows import read_body

PIECE_CHARS = 100_000
"""Characters of a text that one page shows."""

MAX_PICTURE_CHARS = 12_000_000
"""Longest data: address that is shown as a picture, in characters."""

_RASTER = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
_SHOWN_KEYS = frozenset(
    {"role", "content", "tool_calls", "tool_call_id", "reasoning", "reasoning_content"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that a message makes; `arguments` indented where they are JSON."""

    id: str
    name: str
    arguments: str
    is_json: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture in a message; `address` only where it may be shown (data:, raster)."""

    index: int
    kind: str  # "raster", "remote" or "other"
    size: int  # characters of its address
    address: str = ""
    origin: str = ""  # a remote address, as text


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A message in full; `text` is the piece that begins at `start`."""

    position: int
    role: str
    kind: str
    text: str
    start: int
    chars: int
    calls: tuple[Call, ...]
    tool_call_id: str
    reasoning: str
    carried_summary: str
    pictures: tuple[Picture, ...]
    extra: str
    tokens: int

    @property
    def end(self) -> int:
        """Position in the text behind the piece."""
        return self.start + len(self.text)

    @property
    def next_start(self) -> int | None:
        """Where the next piece begins; None when this is the last."""
        return self.end if self.end < self.chars else None

    @property
    def previous_start(self) -> int | None:
        """Where the piece before begins; None when this is the first."""
        return max(0, self.start - PIECE_CHARS) if self.start else None


def read_message_body(
    session: Session, position: int, *, start: int = 0
) -> Body | None:
    """Read one message; `start` is a position in its text, in characters."""
    row = Message.objects.filter(session=session, position=position).first()
    if row is None:
        return None
    message = read_body(row.body, pinned=row.pinned, dropped=row.dropped)
    text = message.text
    start = min(max(start, 0), max(len(text) - 1, 0)) // PIECE_CHARS * PIECE_CHARS
    return Body(
        position=row.position,
        role=row.role,
        kind=row.kind,
        text=text[start : start + PIECE_CHARS],
        start=start,
        chars=len(text),
        calls=tuple(_read_call(call) for call in message.tool_calls),
        tool_call_id=message.tool_call_id or "",
        reasoning=message.reasoning[:PIECE_CHARS],
        carried_summary=(message.carried_summary or "")[:PIECE_CHARS],
        pictures=tuple(_pictures_of(message)),
        extra=_extra_of(message),
        tokens=row.tokens,
    )


def _read_call(call: ToolCall) -> Call:
    arguments, is_json = indent_json(call.arguments)
    return Call(
        id=call.id, name=call.name, arguments=arguments[:PIECE_CHARS], is_json=is_json
    )


def indent_json(text: str) -> tuple[str, bool]:
    """Indent a text that is JSON; another one is returned as it is, and False."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text, False
    return json.dumps(value, ensure_ascii=False, indent=2), True


def _pictures_of(message: EngineMessage) -> Iterator[Picture]:
    images = (part for part in parts_of(message.content) if is_image(part))
    for index, part in enumerate(images):
        yield _picture(index, _address_of(part))


def _picture(index: int, address: str) -> Picture:
    size = len(address)
    if size <= MAX_PICTURE_CHARS and _RASTER.fullmatch(address):
        return Picture(index=index, kind="raster", size=size, address=address)
    if address.startswith(("http:", "https:")):
        return Picture(index=index, kind="remote", size=size, origin=address[:300])
    return Picture(index=index, kind="other", size=size)


def _address_of(part: Mapping[str, Any]) -> str:
    """The address of a picture, whichever provider's shape it has."""
    found = part.get("image_url") or part.get("url")
    if isinstance(found, Mapping):
        found = found.get("url")
    source = part.get("source")
    if isinstance(source, Mapping):
        found = source.get("url") or _as_data(source)
    return found if isinstance(found, str) else ""


def _as_data(source: Mapping[str, Any]) -> str:
    kind, data = source.get("media_type"), source.get("data")
    return f"data:{kind};base64,{data}" if kind and isinstance(data, str) else ""


def _extra_of(message: EngineMessage) -> str:
    """Whatever else the provider wrote beside the message, as JSON."""
    rest = {k: v for k, v in to_dict(message).items() if k not in _SHOWN_KEYS}
    if not rest:
        return ""
    return json.dumps(rest, ensure_ascii=False, indent=2)[:PIECE_CHARS]
