"""What the demo model can answer, and how that looks in the OpenAI chat format."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

PIECE = 24
"""Characters of text in one chunk of a stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call of the model; `id` as providers make them."""

    id: str
    name: str
    arguments: Mapping[str, Any]

    @property
    def json(self) -> dict[str, Any]:
        """The call in the OpenAI format."""
        function = {
            "name": self.name,
            "arguments": json.dumps(self.arguments, ensure_ascii=False),
        }
        return {"id": self.id, "type": "function", "function": function}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer; `cut_after` chunks the line breaks, None: it arrives whole."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    finish_reason: str = "stop"
    cut_after: int | None = None

    @property
    def reason(self) -> str:
        """Why the model stopped."""
        return "tool_calls" if self.calls else self.finish_reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An HTTP error in the words of real providers."""

    status: int
    message: str
    code: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def json(self) -> dict[str, Any]:
        """The body of the error."""
        return {
            "error": {"message": self.message, "type": self.code, "code": self.code}
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a request cost, in tokens."""

    prompt: int
    completion: int

    @property
    def json(self) -> dict[str, int]:
        """The usage in the OpenAI format."""
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
        }


def written(answer: Answer) -> str:
    """Return all that an answer's tokens are counted over."""
    return answer.text + "".join(json.dumps(call.json) for call in answer.calls)


def whole(answer: Answer, model: str, usage: Usage) -> dict[str, Any]:
    """Return an answer as one object."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = [call.json for call in answer.calls]
    choice = {"index": 0, "message": message, "finish_reason": answer.reason}
    frame = _frame("chat.completion", model)
    return {**frame, "choices": [choice], "usage": usage.json}


def chunks(
    answer: Answer, model: str, usage: Usage | None
) -> Iterator[Mapping[str, Any]]:
    """Yield an answer as chunks of a stream; the usage last, when it was asked for."""
    frame = _frame("chat.completion.chunk", model)
    for delta in _deltas(answer):
        yield {**frame, "choices": [_choice(delta, None)]}
    yield {**frame, "choices": [_choice({}, answer.reason)]}
    if usage is not None:
        yield {**frame, "choices": [], "usage": usage.json}


def _choice(delta: Mapping[str, Any], reason: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": reason}


def _deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for start in range(0, len(answer.text), PIECE):
        yield {"content": answer.text[start : start + PIECE]}
    for index, call in enumerate(answer.calls):
        yield {"tool_calls": [{**call.json, "index": index}]}


def _frame(kind: str, model: str) -> dict[str, Any]:
    return {"id": "chatcmpl-demo", "object": kind, "created": 0, "model": model}
