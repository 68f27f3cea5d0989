"""Scripted models: one that is perfect, one that is down."""

from __future__ import annotations

from collections.abc import Sequence

from bench.quality.needles import plain, tells
from compaction.engine.llm import (
    ChatRequest,
    Completion,
    ErrorKind,
    ModelError,
    OnChunk,
)

SUMMARISER_WINDOW = 128_000


def text_of_request(request: ChatRequest) -> str:
    """Return all that a model was sent."""
    return "\n".join(str(message["content"]) for message in request.messages)


class PerfectModel:
    """Keeps exactly what its prompt gave it of the needles, and nothing else."""

    name = "perfect"
    window = SUMMARISER_WINDOW

    def __init__(self, needles: Sequence[str]) -> None:
        self._needles = needles
        self.seen = ""

    def complete(
        self,
        request: ChatRequest,
        *,
        on_chunk: OnChunk | None = None,  # noqa: ARG002
    ) -> Completion:
        """Answer with one line for each needle that was sent."""
        self.seen = plain(text_of_request(request))
        told = [needle for needle in self._needles if tells(self.seen, needle)]
        lines = "\n".join(f"- {needle}" for needle in dict.fromkeys(told))
        return Completion(
            text=f"## Goal\nAs below.\n\n## Critical Context\n{lines}",
            finish_reason="stop",
            model=self.name,
        )


class DownModel:
    """Cannot be reached."""

    name = "down"
    window = SUMMARISER_WINDOW

    def complete(
        self,
        request: ChatRequest,  # noqa: ARG002
        *,
        on_chunk: OnChunk | None = None,  # noqa: ARG002
    ) -> Completion:
        """Refuse."""
        raise ModelError(
            kind=ErrorKind.CONNECTION, message="the connection was refused"
        )
