"""Who writes the summaries of the demo: rules, or a script that plays a model."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.engine.llm import ChatRequest, Completion, OnChunk

SCRIPTED = "demo-script"
"""Stands where a model's name does: nobody shall take it for the word of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedModel:
    """Answers every request with the same summary, whatever it leaves out."""

    text: str
    name: str = SCRIPTED
    window: int = 128_000

    def complete(
        self, request: ChatRequest, *, on_chunk: OnChunk | None = None
    ) -> Completion:
        """Answer with the text, whatever the request says."""
        del request
        if on_chunk is not None:
            on_chunk(self.text)
        return Completion(text=self.text, finish_reason="stop", model=self.name)
