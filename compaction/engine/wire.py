"""A message as a provider gets it: an allow-list, whatever a log wrote beside it.

Storage keeps every field of a foreign log (`to_storage`), so that nothing is lost.
Providers refuse requests with fields or content parts that they do not know, and some
of those fields are nobody's business: only what the chat format names is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.engine.messages import (
    Message,
    Role,
    ToolCall,
    parts_of,
    text_of,
    to_dict,
)
from compaction.engine.phases.tool_pairs import sanitise_pairs

REASONING = "reasoning_content"
"""Sent by adapters alone to endpoints that want a model's reasoning back."""

_NO_WORDS = "(no content)"


def to_wire(message: Message) -> dict[str, Any]:
    """Write one message with the fields that every provider of the format knows.

    A reasoning text stays beside it for the adapter to decide (`REASONING`).
    """
    role = Role.TOOL if _answers_a_call(message) else message.role
    sent: dict[str, Any] = {"role": role.value, "content": _content(message)}
    name = message.extra.get("name")
    if isinstance(name, str) and name and role is not Role.TOOL:
        sent["name"] = name
    if message.tool_calls and role is Role.ASSISTANT:
        sent["tool_calls"] = [_call(call) for call in message.tool_calls]
        if message.reasoning:
            sent[REASONING] = message.reasoning
    if role is Role.TOOL:
        sent["tool_call_id"] = message.tool_call_id or ""
    return sent


def _answers_a_call(message: Message) -> bool:
    return message.role is Role.FUNCTION and bool(message.tool_call_id)


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name or "unknown", "arguments": call.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}


def _content(message: Message) -> Any:
    content = to_dict(message.evolve(extra={}))["content"]  # a carried summary joined
    if message.role is Role.USER and message.image_count:
        return [_part(part) for part in parts_of(content)]
    text = text_of(content)
    if text or message.tool_calls or message.is_result:
        return text
    return _NO_WORDS  # a blank message is refused by many


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    """A picture in the one shape of the format, anything else as its text."""
    picture = part.get("image_url")
    if part.get("type") in ("image_url", "input_image") and picture:
        url = picture if isinstance(picture, Mapping) else {"url": str(picture)}
        kept = {key: url[key] for key in ("url", "detail") if key in url}
        if isinstance(kept.get("url"), str):
            return {"type": "image_url", "image_url": kept}
    return {"type": "text", "text": text_of((part,)) or _NO_WORDS}


def wire_of(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Write a whole conversation, with calls and results that belong together.

    Orphans of a foreign log are repaired in what is sent alone; what is stored stays.
    """
    return [to_wire(message) for message in paired(messages)]


def paired(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with sound pairs; calls that are open at the end stay open."""
    end = len(messages)
    while end and messages[end - 1].is_result:
        end -= 1
    last = messages[end - 1] if end else None
    if last is None or not last.tool_calls:
        return sanitise_pairs(messages).messages
    past = sanitise_pairs(messages[: end - 1])
    running = sanitise_pairs(messages[end - 1 :], open_ids=frozenset(last.call_ids))
    return (*past.messages, *running.messages)
