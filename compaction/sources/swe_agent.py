"""SWE-agent trajectories (`.traj`): one JSON document with a `history` of messages.

Some versions wrote tool calls and their ids as Python text instead of JSON; it is read
as literals only, within a size limit, and kept as text when it is anything else.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from compaction.engine.messages import Kind, Message, Role
from compaction.sources.conversations import opening_id, session_of, single
from compaction.sources.fields import identifier, label, listing, mapping, text
from compaction.sources.openai_shape import read_message
from compaction.sources.sample import Sample
from compaction.sources.values import SourceConversation, SourceMessage

FORMAT = "swe_agent"

_LITERAL_CHARS = 1_000_000
_LITERAL_DEPTH = 50


def matches(sample: Sample) -> bool:
    """Say whether a document holds a trajectory and a history of messages."""
    document = mapping(sample.document)
    history = document.get("history")
    has_history = isinstance(history, list) and bool(history)
    return has_history and isinstance(document.get("trajectory"), list)


def read(sample: Sample) -> Iterator[SourceConversation]:
    """Read the one conversation of a trajectory."""
    document = mapping(sample.document)
    history = listing(document.get("history"))
    sample.check_count(len(history))
    notes: Counter[str] = Counter()
    messages = []
    for position, raw in enumerate(history):
        try:
            messages.append(SourceMessage(message=_message(mapping(raw), notes)))
        except ValueError as exc:
            raise sample.failure(f"history entry {position + 1}: {exc}") from None
    config = mapping(document.get("replay_config"))
    model = _model(config)
    task = label(mapping(config.get("problem_statement")).get("id"))
    session = session_of(
        messages,
        external_id=opening_id(messages, task, label(document.get("environment"))),
        title=task,
        model=model,
        end_reason=label(mapping(document.get("info")).get("exit_status"), 64),
    )
    yield single(
        session,
        source=FORMAT,
        agent="SWE-agent",
        notes=tuple(f"{note}:{number}" for note, number in sorted(notes.items())),
    )


def _model(config: Mapping[str, Any]) -> str:
    name = label(mapping(mapping(config.get("agent")).get("model")).get("name"), 128)
    return "" if name == "replay" else name


def _message(raw: Mapping[str, Any], notes: Counter[str]) -> Message:
    tidy = {"role": raw.get("role"), "content": raw.get("content")}
    if raw.get("tool_calls"):
        calls = _literal(raw["tool_calls"])
        if isinstance(calls, list):
            tidy["tool_calls"] = calls
        else:
            notes["broken_tool_calls"] += 1
            tidy["broken_tool_calls"] = text(raw["tool_calls"])
    ids = listing(_literal(raw.get("tool_call_ids")))
    if ids and tidy["role"] in ("tool", "user"):
        tidy["role"], tidy["tool_call_id"] = Role.TOOL.value, identifier(ids[0])
    thought = text(raw.get("thought"))
    if thought and thought != raw.get("content") and not text(raw.get("content")):
        tidy["reasoning_content"] = thought
    message = read_message(tidy)
    return message.evolve(kind=Kind.SYNTHETIC) if raw.get("is_demo") else message


def _literal(value: object) -> Any:
    """Read Python literals out of a text; None when it holds anything else."""
    if not isinstance(value, str):
        return value
    if len(value) > _LITERAL_CHARS or _nesting(value) > _LITERAL_DEPTH:
        return None
    try:
        return _json_like(ast.literal_eval(value))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _nesting(value: str) -> int:
    """Return an upper bound of how deep brackets and signs nest."""
    depth = deepest = 0
    for char in value:
        if char in "([{+-~":
            depth += 1
            deepest = max(deepest, depth)
        elif char in ")]},'\"":
            depth = max(0, depth - 1)
    return deepest


def _json_like(value: object) -> Any:
    if isinstance(value, dict):
        return {str(key): _json_like(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_json_like(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)
