"""One message of a conversation as the engine sees it, and its road from and to dicts.

The wire shape is the OpenAI chat format. Whatever a source wrote that has no field
here stays in `extra`, so that `to_dict(from_dict(m)) == m` for every valid message.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

Content = str | tuple[Mapping[str, Any], ...] | None
"""Text, a list of OpenAI content parts, or nothing."""

IMAGE_PART_TYPES = frozenset({"image_url", "image", "input_image"})
_KNOWN_KEYS = frozenset(
    {"role", "content", "tool_calls", "tool_call_id", "kind", "pinned", "dropped"}
)
_REASONING_KEYS = ("reasoning_content", "reasoning", "reasoning_details")


class Role(StrEnum):
    """Who speaks; `developer` counts as system, `function` as tool."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    FUNCTION = "function"


class Kind(StrEnum):
    """What a message is; stored beside it, never guessed from its role."""

    PLAIN = "plain"
    SUMMARY = "summary"
    STUB = "stub"
    SYNTHETIC = "synthetic"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call an assistant message makes; `arguments` is the raw JSON string."""

    id: str
    name: str
    arguments: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message; positions are 0-based indices into the list that holds it.

    `carried_summary` is the text of a summary that had to share this message
    because no role was free for a message of its own: the message's own content
    stays apart from it, so a later pass loses neither (the two are joined only in
    `to_dict`).
    """

    role: Role
    content: Content = None
    kind: Kind = Kind.PLAIN
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    pinned: bool = False
    dropped: bool = False
    carried_summary: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_system(self) -> bool:
        """True for system and developer messages."""
        return self.role in (Role.SYSTEM, Role.DEVELOPER)

    @property
    def is_result(self) -> bool:
        """True for tool results."""
        return self.role in (Role.TOOL, Role.FUNCTION)

    @property
    def text(self) -> str:
        """The readable text of the content; pictures appear as a label."""
        content = self.content  # nearly always text: one call less
        return content if isinstance(content, str) else text_of(content)

    @property
    def has_text(self) -> bool:
        """True when a reader would see words (not only white space)."""
        return bool(self.text.strip())

    @property
    def reasoning(self) -> str:
        """The visible reasoning text, whatever field the provider put it in."""
        for key in _REASONING_KEYS[:2]:
            value = self.extra.get(key)
            if isinstance(value, str) and value:
                return value
        return ""

    @property
    def image_count(self) -> int:
        """How many pictures the content holds."""
        if isinstance(self.content, str):
            return 0
        return sum(1 for part in parts_of(self.content) if is_image(part))

    @property
    def call_ids(self) -> tuple[str, ...]:
        """The ids of the calls this message makes, in order."""
        return tuple([call.id for call in self.tool_calls])

    def evolve(self, **changes: Any) -> Message:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


def parts_of(content: object) -> tuple[Mapping[str, Any], ...]:
    """Normalise str | list | dict | null into content parts: the one normaliser."""
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    if isinstance(content, Mapping):
        return (content,)
    if isinstance(content, Iterable):
        return tuple(_part(item) for item in content)
    return ({"type": "text", "text": str(content)},)


def _part(item: object) -> Mapping[str, Any]:
    if isinstance(item, Mapping):
        return item
    return {"type": "text", "text": item if isinstance(item, str) else str(item)}


def is_image(part: Mapping[str, Any]) -> bool:
    """True for a picture, whichever provider's part type it uses."""
    kind = part.get("type")
    return isinstance(kind, str) and kind in IMAGE_PART_TYPES  # logs may hold a list


def text_of(content: object) -> str:
    """Join the text of all parts; a picture becomes the label `[image]`."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (_text_of_part(part) for part in parts_of(content))))


def _text_of_part(part: Mapping[str, Any]) -> str:
    if is_image(part):
        return "[image]"
    for key in ("text", "input_text", "output_text", "refusal", "thinking"):
        value = part.get(key)
        if isinstance(value, str):
            return value
    nested = part.get("content")
    if nested is not None:
        return text_of(nested)
    kind = part.get("type")
    return f"[{kind}]" if isinstance(kind, str) and kind != "text" else ""


def from_dict(raw: Mapping[str, Any]) -> Message:
    """Read one OpenAI chat message; raises ValueError when it has no known role."""
    try:
        role = Role(str(raw.get("role")))
    except ValueError:
        raise ValueError(f"unknown role {raw.get('role')!r}") from None
    content = raw.get("content")
    return Message(
        role=role,
        content=_read_content(content),
        kind=Kind(raw["kind"]) if raw.get("kind") in set(Kind) else Kind.PLAIN,
        tool_calls=tuple(_read_call(call) for call in raw.get("tool_calls") or ()),
        tool_call_id=raw.get("tool_call_id"),
        pinned=raw.get("pinned") is True,
        dropped=raw.get("dropped") is True,
        extra=_read_extra(raw),
    )


def _read_content(content: object) -> Content:
    if content is None or isinstance(content, str):
        return content
    return parts_of(content)


def _read_extra(raw: Mapping[str, Any]) -> dict[str, Any]:
    extra = {key: value for key, value in raw.items() if key not in _KNOWN_KEYS}
    if "tool_calls" in raw and not raw["tool_calls"]:
        extra["tool_calls"] = raw["tool_calls"]
    if "content" not in raw:
        extra["content"] = _ABSENT
    if raw.get("kind") is not None and raw["kind"] not in set(Kind):
        extra["kind"] = raw["kind"]
    return extra


_ABSENT = "__absent__"


def _read_call(raw: object) -> ToolCall:
    if not isinstance(raw, Mapping):
        raise ValueError("a tool call must be an object")
    function = raw.get("function")
    function = function if isinstance(function, Mapping) else raw
    arguments = function.get("arguments", "")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(
        id=str(raw.get("id") or ""),
        name=str(function.get("name") or ""),
        arguments=arguments,
        extra={k: v for k, v in raw.items() if k not in ("id", "function", "type")},
    )


def to_dict(message: Message) -> dict[str, Any]:
    """Write one OpenAI chat message, without fields of our own."""
    extra = dict(message.extra)
    absent = extra.pop("content", None) == _ABSENT
    written: dict[str, Any] = {"role": message.role.value}
    if not absent or message.content is not None:
        written["content"] = _write_content(message)
    if message.tool_calls:
        written["tool_calls"] = [_write_call(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        written["tool_call_id"] = message.tool_call_id
    return written | extra


def _write_content(message: Message) -> Any:
    if message.carried_summary is None:
        return _plain_content(message.content)
    if not message.content:
        return message.carried_summary
    if isinstance(message.content, str):
        return join_carried(message.content, message.carried_summary)
    return [
        *parts_of(message.content),
        {"type": "text", "text": message.carried_summary},
    ]


def _plain_content(content: Content) -> Any:
    return list(content) if isinstance(content, tuple) else content


CARRIED_OPENING = "[MESSAGE ABOVE THIS LINE IS EARLIER; SUMMARY OF EVEN EARLIER TURNS]"


def join_carried(own: str, summary: str) -> str:
    """Put a message's own text first and the summary last (hermes#56372)."""
    return f"{own}\n\n{CARRIED_OPENING}\n{summary}"


def _write_call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    } | dict(call.extra)


def to_storage(message: Message) -> dict[str, Any]:
    """Write a message with our own fields, for the store and for round trips."""
    is_carrier = message.carried_summary is not None
    stored = to_dict(message.evolve(carried_summary=None) if is_carrier else message)
    if message.kind is not Kind.PLAIN:
        stored["kind"] = message.kind.value
    if message.pinned:
        stored["pinned"] = True
    if message.dropped:
        stored["dropped"] = True
    if message.carried_summary is not None:
        stored["carried_summary"] = message.carried_summary
    return stored


def from_storage(raw: Mapping[str, Any]) -> Message:
    """Read what `to_storage` wrote."""
    carried = raw.get("carried_summary")
    rest = {key: value for key, value in raw.items() if key != "carried_summary"}
    return from_dict(rest).evolve(carried_summary=carried)
