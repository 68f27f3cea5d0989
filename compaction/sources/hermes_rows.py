"""One row of Hermes' `messages` table (or of an export of it) as a message."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from compaction.engine.messages import Content, Kind, Message, Role, ToolCall
from compaction.sources.fields import identifier, instant, label, mapping, text
from compaction.sources.json_input import decode
from compaction.sources.openai_shape import arguments_text
from compaction.sources.summary_markers import label_hermes
from compaction.sources.values import SourceMessage

JSON_MARK = "\x00json:"
"""What Hermes writes before a content that is not plain text (hermes_state.py)."""

COLUMNS = (
    "id",
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "timestamp",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
    "effect_disposition",
    "platform_message_id",
    "observed",
    "active",
    "compacted",
    "api_content",
)
"""The columns that are read; any of them but the first three may be missing."""

_ROLES = {role.value: role for role in Role}
_TEXTS = ("finish_reason", "effect_disposition", "platform_message_id", "api_content")
_CALL_KEYS = frozenset({"id", "type", "function"})
_JSON_FIELDS = ("reasoning_details", "codex_reasoning_items", "codex_message_items")


def read_row(row: Mapping[str, Any], notes: Counter[str]) -> SourceMessage:
    """Read one row; what is broken in it is kept as text and counted in `notes`."""
    role = _ROLES.get(text(row.get("role")))
    content = _content(row.get("content"), notes)
    extra = _extra(row, notes)
    calls = _calls(row.get("tool_calls"), extra, notes)
    if role is None:
        return _foreign_role(row, content, extra, notes)
    call_id = row.get("tool_call_id")
    message = Message(
        role=role,
        content=content,
        tool_calls=calls,
        tool_call_id=identifier(call_id) if call_id else None,
        extra=extra,
    )
    return _source_message(row, label_hermes(message), is_inactive=_is_rewound(row))


def _source_message(
    row: Mapping[str, Any], message: Message, *, is_inactive: bool
) -> SourceMessage:
    return SourceMessage(
        message=message,
        at=instant(row.get("timestamp")),
        external_id=identifier(row.get("id")),
        inactive=is_inactive,
    )


def _is_rewound(row: Mapping[str, Any]) -> bool:
    """Neither live nor archived by a compaction: the user took it back."""
    return row.get("active", 1) == 0 and not row.get("compacted")


def _foreign_role(
    row: Mapping[str, Any], content: Content, extra: dict[str, Any], notes: Counter[str]
) -> SourceMessage:
    """Keep a row that no model ever saw (as `session_meta`): shown, never sent."""
    role = label(row.get("role"), 32) or "none"
    notes[f"foreign_role:{role}"] += 1
    message = Message(
        role=Role.USER,
        content=content,
        kind=Kind.SYNTHETIC,
        extra=extra | {"source_role": role},
    )
    return _source_message(row, message, is_inactive=True)


def _content(raw: object, notes: Counter[str]) -> Content:
    if isinstance(raw, str):
        return _marked_content(raw, notes) if raw.startswith(JSON_MARK) else raw
    if raw is None:
        return None
    if isinstance(raw, bytes):
        notes["binary_content"] += 1
        return raw.decode("utf-8", "replace")
    return _parts(raw)


def _marked_content(raw: str, notes: Counter[str]) -> Content:
    try:
        return _parts(decode(raw[len(JSON_MARK) :]))
    except ValueError:
        notes["broken_content"] += 1
        return raw[len(JSON_MARK) :]


def _parts(value: object) -> Content:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return (value,)
    if isinstance(value, list):
        return tuple(
            part if isinstance(part, Mapping) else {"type": "text", "text": str(part)}
            for part in value
        )
    return str(value)


def _calls(
    raw: object, extra: dict[str, Any], notes: Counter[str]
) -> tuple[ToolCall, ...]:
    if not raw:
        return ()
    try:
        calls = decode(raw) if isinstance(raw, str) else raw
        if not isinstance(calls, list):
            raise ValueError("tool calls must be a list")
        return tuple(_call(call) for call in calls)
    except ValueError:
        notes["broken_tool_calls"] += 1
        extra["broken_tool_calls"] = raw if isinstance(raw, str) else repr(raw)[:2000]
        return ()


def _call(raw: object) -> ToolCall:
    fields = mapping(raw)
    if not fields:
        raise ValueError("a tool call must be an object")
    function = mapping(fields.get("function")) or fields
    return ToolCall(
        id=identifier(fields.get("id") or fields.get("call_id")),
        name=label(function.get("name"), 128),
        arguments=arguments_text(function.get("arguments")),
        extra={key: fields[key] for key in fields if key not in _CALL_KEYS},
    )


def _extra(row: Mapping[str, Any], notes: Counter[str]) -> dict[str, Any]:
    extra = _reasoning(row)
    if row.get("tool_name"):
        extra["name"] = label(row["tool_name"], 128)
    for key in _TEXTS:
        if row.get(key):
            extra[key] = _plain(row[key])
    for key in _JSON_FIELDS:
        if row.get(key):
            extra[key] = _json_field(row[key], key, notes)
    if row.get("observed"):
        extra["observed"] = True
    return extra


def _reasoning(row: Mapping[str, Any]) -> dict[str, Any]:
    """Hermes often writes one text into both fields; it is sent, and counts, once."""
    reasoning = _plain(row.get("reasoning"))
    visible = _plain(row.get("reasoning_content"))
    found: dict[str, Any] = {}
    if visible or reasoning:
        found["reasoning_content"] = visible or reasoning
    if visible and reasoning and visible != reasoning:
        found["reasoning"] = reasoning
    return found


def _json_field(raw: object, key: str, notes: Counter[str]) -> object:
    if not isinstance(raw, str):
        return _plain(raw)
    try:
        return decode(raw)
    except ValueError:
        notes[f"broken_{key}"] += 1
        return raw


def _plain(value: object) -> object:
    """Return a value that JSON can hold: no bytes, no infinity."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
