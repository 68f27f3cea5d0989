"""Short hands: messages in, evidence or lines of a summary out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from typing import Any

from compaction.engine.evidence.collect import collect
from compaction.engine.evidence.items import EvidenceItem, EvidenceKind
from compaction.engine.messages import Message, Role, ToolCall

_ids = count()


def used(name: str, arguments: dict[str, Any] | str, output: str) -> list[Message]:
    """An assistant's call and its result."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = ToolCall(id=f"call_{next(_ids)}", name=name, arguments=raw)
    return [
        Message(role=Role.ASSISTANT, content="", tool_calls=(call,)),
        Message(role=Role.TOOL, content=output, tool_call_id=call.id),
    ]


def ran(command: str, output: str) -> list[Message]:
    """A shell command and its output."""
    return used("bash", {"command": command}, output)


def found(
    messages: Sequence[Message], kind: EvidenceKind, **wanted: Any
) -> list[EvidenceItem]:
    """The evidence of one kind, in order."""
    return [
        item
        for item in collect(messages)
        if item.kind is kind
        and all(getattr(item, name) == value for name, value in wanted.items())
    ]


def texts(messages: Sequence[Message], kind: EvidenceKind, **wanted: Any) -> list[str]:
    """The texts of the evidence of one kind."""
    return [item.text for item in found(messages, kind, **wanted)]
