"""One entry of a pi session as a message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.engine.messages import Kind, Message, Role, ToolCall
from compaction.sources.block_shape import to_content
from compaction.sources.fields import count, label, listing, mapping, text, total
from compaction.sources.openai_shape import tool_call, tool_result

Entry = Mapping[str, Any]

_SUMMARY_OPENING = "The conversation history before this point was compacted into"
_BRANCH_OPENING = "The following is a summary of a branch that was left"


def summary_message(summary: str) -> Message:
    """Return the user message in which pi sends a compaction summary."""
    content = f"{_SUMMARY_OPENING} the following summary:\n\n{_tagged(summary)}"
    return Message(role=Role.USER, content=content, kind=Kind.SUMMARY)


def _tagged(summary: str) -> str:
    return f"<summary>\n{summary}\n</summary>"


def read_entry(entry: Entry) -> Message | None:
    """Read one entry; None when it is no message (a setting, a label, a header)."""
    kind = entry.get("type")
    if kind == "message":
        return _read_message(mapping(entry.get("message")))
    if kind == "custom_message":
        return _synthetic(to_content(entry.get("content")))
    if kind == "branch_summary" and text(entry.get("summary")):
        return _synthetic(f"{_BRANCH_OPENING}:\n\n{_tagged(text(entry['summary']))}")
    return None


def _synthetic(content: Any, **extra: Any) -> Message:
    return Message(role=Role.USER, content=content, kind=Kind.SYNTHETIC, extra=extra)


def _read_message(raw: Mapping[str, Any]) -> Message | None:
    role = raw.get("role")
    content = to_content(raw.get("content"))
    if role == "user":
        return Message(role=Role.USER, content=content)
    if role == "assistant":
        return _assistant(raw)
    if role == "toolResult":
        return _result(raw)
    if role == "bashExecution":
        return _shell(raw)
    return _synthetic(content, source_role=label(role, 32)) if content else None


def _assistant(raw: Mapping[str, Any]) -> Message:
    blocks = [mapping(block) for block in listing(raw.get("content"))]
    extra: dict[str, Any] = {}
    thoughts = [text(b.get("thinking")) for b in blocks if b.get("type") == "thinking"]
    if any(thoughts):
        extra["reasoning_content"] = "\n\n".join(filter(None, thoughts))
    if hidden := _signatures(blocks):
        extra["reasoning_details"] = hidden
    if raw.get("stopReason") in ("aborted", "error"):
        extra["finish_reason"] = raw["stopReason"]
        extra["error"] = text(raw.get("errorMessage"))
    said = [b for b in blocks if b.get("type") not in ("thinking", "toolCall")]
    content = raw.get("content")
    return Message(
        role=Role.ASSISTANT,
        content=content if isinstance(content, str) else to_content(said),
        tool_calls=_calls(blocks),
        extra=extra,
    )


def _signatures(blocks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [
        {"type": "thinking", "signature": block["thinkingSignature"]}
        for block in blocks
        if block.get("type") == "thinking" and text(block.get("thinkingSignature"))
    ]


def _calls(blocks: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(
        tool_call(block.get("id"), block.get("name"), block.get("arguments"))
        for block in blocks
        if block.get("type") == "toolCall"
    )


def _result(raw: Mapping[str, Any]) -> Message:
    content = to_content(raw.get("content"))
    message = tool_result(raw.get("toolCallId"), raw.get("toolName"), content)
    if raw.get("isError") is True:
        return message.evolve(extra={**message.extra, "is_error": True})
    return message


def _shell(raw: Mapping[str, Any]) -> Message:
    """A command the user ran beside the agent; `!!` keeps it from the model."""
    code = count(raw.get("exitCode"))
    lines = [f"Ran `{text(raw.get('command'))}`", text(raw.get("output"))]
    if code:
        lines.append(f"Exit code {code}")
    is_excluded = raw.get("excludeFromContext") is True
    return _synthetic("\n".join(lines), **({"excluded": True} if is_excluded else {}))


def model_of(entry: Entry) -> str:
    """Return the model an entry names, if it does."""
    message = mapping(entry.get("message"))
    is_answer = message.get("role") == "assistant"
    found = message.get("model") if is_answer else entry.get("modelId")
    return label(found, 128)


def usage_of(entry: Entry) -> int | None:
    """Return the prompt tokens of an answer, cached ones included."""
    usage = mapping(mapping(entry.get("message")).get("usage"))
    return total(*(usage.get(k) for k in ("input", "cacheRead", "cacheWrite"))) or None
