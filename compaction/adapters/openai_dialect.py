"""How an endpoint wants to be asked; learnt from what it refuses.

"OpenAI-compatible" servers differ in small things: some refuse `stream_options`, some
refuse to stream, some want `max_completion_tokens`. A refusal that names one of these
is no failure of the call: it is asked again at once, the other way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from compaction.engine.llm import ChatRequest, ModelError
from compaction.engine.wire import REASONING


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The ways of asking that an endpoint understands."""

    stream: bool = True
    include_usage: bool = True
    reasoning: bool = False  # wants the reasoning beside a model's calls back
    output_limit: str = "max_tokens"

    def arguments(self, request: ChatRequest) -> dict[str, Any]:
        """Return what to pass to the library for a request."""
        messages = list(request.messages)
        if not self.reasoning:
            messages = [_without_reasoning(message) for message in messages]
        asked: dict[str, Any] = {"messages": readable(messages)}
        if request.tools:
            asked["tools"] = readable(list(request.tools))
        if request.max_tokens is not None:
            asked[self.output_limit] = request.max_tokens
        if self.stream:
            asked["stream"] = True
        if self.stream and self.include_usage:
            asked["stream_options"] = {"include_usage": True}
        return asked

    def adapt(self, refusal: ModelError) -> Dialect | None:
        """Return another way that may be understood; None when it is not about that."""
        if refusal.status not in (400, 404, 415, 422, 501):
            return None
        said = f"{refusal.message} {refusal.body}".lower()
        return next(self._others(said), None)

    def _others(self, said: str) -> Iterator[Dialect]:
        """Give the other ways that a refusal hints at, the likeliest first."""
        if self.include_usage and ("stream_options" in said or "include_usage" in said):
            yield replace(self, include_usage=False)
        if not self.reasoning and REASONING in said:
            yield replace(self, reasoning=True)
        if self.output_limit == "max_tokens" and "max_completion_tokens" in said:
            yield replace(self, output_limit="max_completion_tokens")
        if self.stream and "stream" in said:
            yield replace(self, stream=False)


def _without_reasoning(message: Mapping[str, Any]) -> Mapping[str, Any]:
    if REASONING not in message:
        return message
    return {key: value for key, value in message.items() if key != REASONING}


def readable(value: Any) -> Any:
    """Return JSON values whose texts can be sent: lone surrogates cannot (U+FFFD)."""
    if isinstance(value, str):
        return _readable_text(value)
    if isinstance(value, Mapping):
        return {readable(key): readable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [readable(item) for item in value]
    return value


def _readable_text(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
