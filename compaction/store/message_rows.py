"""One message as a row: exact body, readable text, and the numbers beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.db.models.base import ModelState

from compaction.engine.messages import (
    Kind,
    Message as EngineMessage,
    Role,
    ToolCall,
    from_storage,
    to_storage,
)
from compaction.engine.outline import MessageFacts
from compaction.models import Message
from compaction.store.texts import id_for_column, readable

TEXT_CHARS = 200_000
"""How much of a text previews and search see; the body always holds all of it."""
_ARGUMENT_CHARS = 200
_BODY = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message to be written, with what its source knows beside it.

    `origin` is (session id, position) of the message that this one is a copy of;
    `inactive` one that the agent itself rewound: it is shown, and never planned, sent
    or counted.
    """

    message: EngineMessage
    at: datetime | None = None
    external_id: str = ""
    origin: tuple[str, int] | None = None
    inactive: bool = False


def row_of(new: NewMessage, facts: MessageFacts) -> Message:
    """Return the unsaved row of a message; place and running total are not set."""
    message = new.message
    origin_session, origin_position = new.origin or (None, None)
    # Made without `Message(…)`, which takes longer than counting a short text.
    row = Message.__new__(Message)
    row.__dict__.update(
        _blank_columns(),
        _state=ModelState(),
        kind=message.kind.value,
        role=message.role.value,
        body=dump_body(message),
        text=readable(message.text[:TEXT_CHARS]),
        calls=[_call_row(call) for call in message.tool_calls],
        tool_call_id=id_for_column(message.tool_call_id or ""),
        tool_name=_name_of(message),
        at=new.at,
        external_id=id_for_column(new.external_id),
        origin_session_id=origin_session,
        origin_position=origin_position,
        inactive=new.inactive,
        pinned=message.pinned,
        dropped=message.dropped,
        tokens=facts.tokens,
        pruned_tokens=facts.pruned_tokens,
        chars=facts.chars,
        args_chars=facts.args_chars,
        images=min(facts.images, 32_767),
        has_text=facts.has_text,
        digest=facts.digest,
    )
    return row


@cache
def _blank_columns() -> Mapping[str, Any]:
    fields = Message._meta.concrete_fields
    return {field.attname: field.get_default() for field in fields}


def dump_body(message: EngineMessage) -> str:
    """Write a message as ASCII JSON, which any database keeps exactly."""
    return _BODY.encode(to_storage(message))


def read_body(body: str, *, pinned: bool, dropped: bool) -> EngineMessage:
    """Read a message; what an operator marked since it was written wins."""
    return from_storage(json.loads(body)).evolve(pinned=pinned, dropped=dropped)


def _call_row(call: ToolCall) -> list[str]:
    return [
        id_for_column(call.id),
        readable(call.name[:_ARGUMENT_CHARS]),
        readable(call.arguments[:_ARGUMENT_CHARS]),
    ]


def _name_of(message: EngineMessage) -> str:
    name = message.extra.get("name")
    return readable(name)[:128] if name and isinstance(name, str) else ""


FACT_COLUMNS = (
    *("inactive", "role", "kind", "tokens", "pruned_tokens", "chars", "args_chars"),
    *("images", "has_text", "calls", "tool_call_id", "pinned", "dropped", "digest"),
)
_ROLES = {role.value: role for role in Role}
_KINDS = {kind.value: kind for kind in Kind}


def facts_from(columns: Sequence[Any]) -> MessageFacts:
    """Return the numbers of a row as the engine plans with them.

    `columns` are those of FACT_COLUMNS. A message that the agent rewound keeps its
    place, so that positions of a plan are positions of rows, but it weighs nothing,
    answers nothing and is left out.
    """
    inactive, role, kind, tokens, pruned_tokens, chars, args_chars = columns[:7]
    images, has_text, calls, answers, pinned, dropped, digest = columns[7:]
    if inactive:
        return rewound_facts(_ROLES[role])
    return MessageFacts(
        role=_ROLES[role],
        kind=_KINDS[kind],
        tokens=tokens,
        pruned_tokens=pruned_tokens,
        chars=chars,
        args_chars=args_chars,
        images=images,
        has_text=has_text,
        call_ids=tuple([call[0] for call in calls]),
        result_id=answers or None,
        pinned=pinned,
        dropped=dropped,
        digest=digest,
    )


def rewound_facts(role: Role) -> MessageFacts:
    """The numbers of a message that keeps its place and nothing else."""
    return MessageFacts(role=role, dropped=True)
