"""Hermes' trajectory samples: ShareGPT turns with tags instead of fields.

Reasoning stands in `<think>`, calls in `<tool_call>` without ids, results in
`<tool_response>` with the id of the call they answer, in the order of the calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compaction.engine.messages import Message, Role, ToolCall
from compaction.sources.conversations import UniqueIds, opening_id, single
from compaction.sources.fields import identifier, instant, label, listing, mapping, text
from compaction.sources.json_input import decode
from compaction.sources.openai_shape import arguments_text, tool_call, tool_result
from compaction.sources.sample import Sample
from compaction.sources.values import SourceConversation, SourceMessage, SourceSession

FORMAT = "hermes_trajectory"

_ROLES = {
    "system": Role.SYSTEM,
    "human": Role.USER,
    "user": Role.USER,
    "gpt": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
}


def matches(sample: Sample) -> bool:
    """Say whether a file holds ShareGPT conversations."""
    first = sample.records[0] if sample.records else sample.document
    turns = listing(mapping(first).get("conversations"))
    return bool(turns) and {"from", "value"} <= mapping(turns[0]).keys()


def read(sample: Sample) -> Iterator[SourceConversation]:
    """Read one conversation per line."""
    ids = UniqueIds()
    if not sample.records:
        yield _conversation(mapping(sample.document), sample, ids, line=None)
        return
    for line, record in sample.lines():
        yield _conversation(record, sample, ids, line=line)


def _conversation(
    record: Mapping[str, Any], sample: Sample, ids: UniqueIds, *, line: int | None
) -> SourceConversation:
    turns = record.get("conversations")
    if not isinstance(turns, list) or not turns:
        raise sample.failure("no list of conversations", line=line)
    sample.check_count(len(turns))
    try:
        messages = tuple(_messages(turns))
    except ValueError as exc:
        raise sample.failure(str(exc), line=line) from None
    at = instant(record.get("timestamp"))
    session = SourceSession(
        external_id=ids.claim(opening_id(messages, label(record.get("timestamp")))),
        model=label(record.get("model"), 128),
        started_at=at,
        ended_at=at,
        end_reason="completed" if record.get("completed") is True else "",
        messages=messages,
    )
    return single(session, source=FORMAT, agent="Hermes Agent")


def _messages(turns: list[Any]) -> Iterator[SourceMessage]:
    pending: tuple[ToolCall, ...] = ()
    for position, raw in enumerate(turns):
        role = _ROLES.get(text(mapping(raw).get("from")))
        if role is None:
            raise ValueError(f"turn {position + 1}: unknown speaker")
        value = text(mapping(raw).get("value"))
        if role is Role.TOOL:
            found = _results(value, pending)
        elif role is Role.ASSISTANT:
            following = turns[position + 1] if position + 1 < len(turns) else None
            answer = _answer(value, _ids_in(following), f"call_{position}")
            pending, found = answer.tool_calls, [answer]
        else:
            found = [Message(role=role, content=value)]
        yield from (SourceMessage(message=message) for message in found)


def _answer(value: str, ids: list[str], fallback: str) -> Message:
    thoughts, rest = _take_tag(value, "think")
    calls, rest = _take_tag(rest, "tool_call")
    read_calls = tuple(
        _call(raw, ids[i] if i < len(ids) and ids[i] else f"{fallback}_{i}")
        for i, raw in enumerate(calls)
    )
    reasoning = "\n".join(filter(None, (thought.strip() for thought in thoughts)))
    return Message(
        role=Role.ASSISTANT,
        content=rest.strip(),
        tool_calls=read_calls,
        extra={"reasoning_content": reasoning} if reasoning else {},
    )


def _call(raw: str, call_id: str) -> ToolCall:
    call = _decoded(raw)
    if not isinstance(call, Mapping):
        return tool_call(call_id, "", raw.strip())
    return tool_call(call_id, call.get("name"), call.get("arguments"))


def _ids_in(turn: object) -> list[str]:
    if mapping(turn).get("from") != "tool":
        return []
    responses, _ = _take_tag(text(mapping(turn).get("value")), "tool_response")
    return [identifier(mapping(_decoded(raw)).get("tool_call_id")) for raw in responses]


def _results(value: str, calls: tuple[ToolCall, ...]) -> list[Message]:
    responses, rest = _take_tag(value, "tool_response")
    found = []
    for position, raw in enumerate(responses or [rest]):
        fields = mapping(_decoded(raw))
        call = calls[position] if position < len(calls) else None
        call_id = call.id if call else fields.get("tool_call_id")
        name = fields.get("name") or (call.name if call else "")
        content = fields.get("content") if "content" in fields else raw.strip()
        found.append(tool_result(call_id, name, arguments_text(content)))
    return found


def _take_tag(value: str, tag: str) -> tuple[list[str], str]:
    """Return the texts inside a tag and what remains without them (linear time)."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    inside: list[str] = []
    outside: list[str] = []
    position = 0
    while (start := value.find(opening, position)) >= 0:
        stop = value.find(closing, start)
        if stop < 0:
            break
        outside.append(value[position:start])
        inside.append(value[start + len(opening) : stop])
        position = stop + len(closing)
    outside.append(value[position:])
    return inside, "".join(outside)


def _decoded(raw: str) -> Any:
    try:
        return decode(raw)
    except ValueError:
        return None
