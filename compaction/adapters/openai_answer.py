"""Putting an answer together: from the chunks of a stream, or from one object.

Providers fill the format in their own ways; whatever is missing or odd counts as
absent, never as an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compaction.engine.llm import Completion, Usage
from compaction.engine.messages import text_of

_REASONING = ("reasoning_content", "reasoning")


def field_of(value: object, name: str) -> Any:
    """Read a field of an object of the library or of a dict; None when absent."""
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def items_of(value: object) -> list[Any]:
    """Return a list as it is, anything else as nothing."""
    return list(value) if isinstance(value, list | tuple) else []


class AnswerBuilder:
    """Collects one answer; `finish_reason` stays None until the provider says it."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.choices = 0
        self._pieces: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._usage: Usage | None = None
        self._model = ""

    def add(self, chunk: object) -> str:
        """Add a chunk, or a whole answer; return the new text in it."""
        self._model = _word(field_of(chunk, "model")) or self._model
        self._usage = read_usage(field_of(chunk, "usage")) or self._usage
        choices = items_of(field_of(chunk, "choices"))
        if not choices:
            return ""
        self.choices += 1
        reason = field_of(choices[0], "finish_reason")
        self.finish_reason = _word(reason) or self.finish_reason
        whole = field_of(choices[0], "message")
        if whole is not None:  # not a chunk: it is complete, so it is finished
            self.finish_reason = self.finish_reason or "stop"
        return self._add_message(whole or field_of(choices[0], "delta"))

    def _add_message(self, message: object) -> str:
        text = text_of(field_of(message, "content"))
        text += _word(field_of(message, "refusal"))
        self._pieces.append(text)
        for name in _REASONING:
            self._reasoning.append(_word(field_of(message, name)))
        calls = items_of(field_of(message, "tool_calls"))
        old_call = field_of(message, "function_call")
        self._add_calls(calls or ([{"function": old_call}] if old_call else []))
        return text

    def _add_calls(self, calls: Iterable[object]) -> None:
        for position, call in enumerate(calls):
            index = field_of(call, "index")
            known = self._calls.setdefault(
                index if isinstance(index, int) else position,
                {"id": "", "name": "", "arguments": ""},
            )
            function = field_of(call, "function")
            known["id"] = _word(field_of(call, "id")) or known["id"]
            known["name"] = _word(field_of(function, "name")) or known["name"]
            known["arguments"] += _word(field_of(function, "arguments"))

    def partial_text(self) -> str:
        """Return the text that has arrived so far."""
        return "".join(self._pieces)

    def build(self, *, model: str, latency: float) -> Completion:
        """Return the completion; `model` is who was asked."""
        return Completion(
            text=self.partial_text(),
            finish_reason=self.finish_reason,
            tool_calls=tuple(_call(call) for call in self._calls.values()),
            reasoning="".join(self._reasoning),
            usage=self._usage,
            model=self._model or model,
            latency=latency,
        )


def _call(call: Mapping[str, str]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": call["arguments"]}
    return {"id": call["id"], "type": "function", "function": function}


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def read_usage(raw: object) -> Usage | None:
    """Read what a call cost; None when the provider does not say."""
    if raw is None:
        return None
    spent = field_of(raw, "completion_tokens_details")
    sent = field_of(raw, "prompt_tokens_details")
    cached = field_of(sent, "cached_tokens") or field_of(raw, "prompt_cache_hit_tokens")
    usage = Usage(
        input_tokens=_number(field_of(raw, "prompt_tokens")),
        output_tokens=_number(field_of(raw, "completion_tokens")),
        reasoning_tokens=_number(field_of(spent, "reasoning_tokens")),
        cached_tokens=_number(cached),
    )
    return usage if usage != Usage() else None


def _number(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
