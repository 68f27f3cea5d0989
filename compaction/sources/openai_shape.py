"""Foreign dicts that are (nearly) OpenAI chat messages, made safe and read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from compaction.engine.messages import Message, Role, ToolCall, from_dict
from compaction.sources.fields import count, identifier, label, listing, mapping, text
from compaction.sources.values import SourceMessage

_ROLES = frozenset(Role)
_OWN_KEYS = ("kind", "pinned", "dropped")  # of this console's own exports


def is_message(value: object) -> bool:
    """Say whether a value looks like a chat message: an object with a known role."""
    role = mapping(value).get("role")
    return isinstance(role, str) and role in _ROLES


def is_message_list(value: object) -> bool:
    """Say whether a value is a list that begins with a chat message."""
    return isinstance(value, list) and bool(value) and is_message(value[0])


def read_message(raw: object) -> Message:
    """Read one chat message; raises ValueError with a sentence when it is none."""
    if not isinstance(raw, Mapping):
        raise ValueError(f"a message must be an object, not {type(raw).__name__}")
    tidy = {key: value for key, value in raw.items() if key not in _OWN_KEYS}
    tidy.update(_own_fields(raw))
    tidy["tool_calls"] = [call_dict(call) for call in _calls_of(raw)]
    if "tool_calls" not in raw or raw["tool_calls"] is None:
        del tidy["tool_calls"]
    if raw.get("tool_call_id") is not None:
        tidy["tool_call_id"] = identifier(raw["tool_call_id"])
    if "content" in raw:
        tidy["content"] = _content_of(raw["content"])
    return from_dict(tidy)


def _own_fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {key: raw[key] for key in _OWN_KEYS if isinstance(raw.get(key), str | bool)}


def _content_of(content: object) -> object:
    if content is None or isinstance(content, str | list | Mapping):
        return content
    return json.dumps(content)


def _calls_of(raw: Mapping[str, Any]) -> list[Any]:
    calls = raw.get("tool_calls")
    if calls is None:
        return []
    if not isinstance(calls, list):
        raise ValueError("tool_calls must be a list")
    return calls


def call_dict(raw: object) -> dict[str, Any]:
    """Tidy one OpenAI tool call; raises ValueError when it is not an object."""
    if not isinstance(raw, Mapping):
        raise ValueError("a tool call must be an object")
    function = raw.get("function")
    source = function if isinstance(function, Mapping) else raw
    name = function if isinstance(function, str) else source.get("name")
    tidy = {key: value for key, value in raw.items() if key != "arguments"}
    tidy["id"] = identifier(raw.get("id") or raw.get("call_id"))
    tidy["function"] = {
        "name": label(name, 128),
        "arguments": arguments_text(source.get("arguments")),
    }
    return tidy


def arguments_text(arguments: object) -> str:
    """Return a call's arguments as the JSON text that was (or would be) sent."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def tool_call(call_id: object, name: object, arguments: object) -> ToolCall:
    """Build a tool call from fields of any log."""
    return ToolCall(
        id=identifier(call_id),
        name=label(name, 128),
        arguments=arguments_text(arguments),
    )


def tool_result(call_id: object, name: object, content: Any) -> Message:
    """Build a tool result from fields of any log."""
    named = label(name, 128)
    return Message(
        role=Role.TOOL,
        content=content,
        tool_call_id=identifier(call_id),
        extra={"name": named} if named else {},
    )


def read_messages(raw: object) -> tuple[SourceMessage, ...]:
    """Read a list of chat messages; ValueError says which one is broken and why."""
    if not isinstance(raw, list):
        raise ValueError(f"messages must be a list, not {type(raw).__name__}")
    found = []
    for position, item in enumerate(raw):
        try:
            found.append(SourceMessage(message=read_message(item)))
        except ValueError as exc:
            raise ValueError(f"message {position + 1}: {exc}") from None
    return tuple(found)


def tools_of(raw: object) -> tuple[Mapping[str, Any], ...]:
    """Return the tool schemas of a request."""
    return tuple(tool for tool in listing(raw) if isinstance(tool, Mapping))


def prompt_tokens(usage: object) -> int | None:
    """Return the prompt tokens that a provider's usage states."""
    return count(mapping(usage).get("prompt_tokens"))


def join_text(parts: Iterable[object]) -> str:
    """Join the text of content parts, leaving out what is not text."""
    return "\n".join(filter(None, (text(mapping(p).get("text")) for p in parts)))
