"""The one seam to a language model: a request in, a completion or a ModelError out.

Adapters translate their library's exceptions into `ModelError`; the engine classifies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the provider says one call cost, in tokens."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One call: messages in the OpenAI chat format, tools, and limits.

    `max_tokens` limits the answer in tokens, None leaves it to the provider;
    `timeout` is in seconds for the whole answer; the model's own limit holds where
    that is shorter.
    """

    messages: Sequence[Mapping[str, Any]]
    tools: tuple[Mapping[str, Any], ...] = ()
    max_tokens: int | None = None
    timeout: float = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer; `model` is who really answered, `embedded` that no model did."""

    text: str = ""
    finish_reason: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    reasoning: str = ""
    usage: Usage | None = None
    model: str = ""
    latency: float = 0.0
    embedded: bool = False


OnChunk = Callable[[str], None]
"""Called with each piece of text as it streams in."""


class ChatModel(Protocol):
    """Something that answers; raises ModelError and nothing else."""

    @property
    def name(self) -> str:
        """The model's name, for operators."""

    @property
    def window(self) -> int:
        """Context length of the model in tokens."""

    def complete(
        self, request: ChatRequest, *, on_chunk: OnChunk | None = None
    ) -> Completion:
        """Answer one request."""


class ErrorKind(StrEnum):
    """How a call failed, as far as the transport can tell."""

    CONNECTION = "connection"
    TIMEOUT = "timeout"
    CUT_STREAM = "cut_stream"
    GARBAGE = "garbage"
    NO_PROVIDER = "no_provider"
    STATUS = "status"


# Not frozen: Python itself writes __traceback__ and __context__ on exceptions.
@dataclass(eq=False, kw_only=True)
class ModelError(Exception):
    """A failed call: `status` is the HTTP status if there was one.

    `retry_after` is in seconds; `body` is at most 2,000 characters of what came back,
    with secrets redacted.
    """

    kind: ErrorKind
    message: str
    status: int | None = None
    code: str | None = None
    retry_after: float | None = None
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Say what happened in one line."""
        status = f" (HTTP {self.status})" if self.status else ""
        return f"{self.message}{status}"
