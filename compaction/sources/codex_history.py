"""What Codex makes of its history when it compacts."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from compaction.engine.messages import Kind, Message, Role
from compaction.sources.codex_items import Transcript, is_prompt
from compaction.sources.fields import mapping
from compaction.sources.summary_markers import bare_codex
from compaction.sources.values import SourceMessage

_KEPT_PROMPT_CHARS = 20_000 * 4  # Codex keeps 20,000 tokens of prompts, 4 chars each


def summary_message(said: str) -> Message:
    """Return the user message in which Codex sends a summary."""
    return Message(role=Role.USER, content=said, kind=Kind.SUMMARY)


def replaced_history(history: list[Any], said: str, at: datetime | None) -> Transcript:
    """Read the new history; the summary in it is a user message like any other."""
    transcript = Transcript()
    for item in history:
        transcript.add(mapping(item), at)
    messages = transcript.close()
    for index, entry in enumerate(messages):
        content = entry.message.text
        if is_prompt(entry.message) and _is_summary(content, said):
            messages[index] = replace(entry, message=summary_message(content))
    return transcript


def _is_summary(content: str, said: str) -> bool:
    if said and content.strip() == said.strip():
        return True
    return bare_codex(content) != content.strip()


def summary_in(transcript: Transcript) -> str:
    """Return the bare text of the newest summary among the messages."""
    for entry in reversed(transcript.messages):
        if entry.message.kind is Kind.SUMMARY:
            return bare_codex(entry.message.text)
    return ""


def kept_prompts(messages: tuple[SourceMessage, ...]) -> list[SourceMessage]:
    """Rebuild what Codex keeps: its opening context, then the newest prompts."""
    opening = []
    for entry in messages:
        if entry.message.kind is not Kind.SYNTHETIC:
            break
        opening.append(entry)
    kept: list[SourceMessage] = []
    left = _KEPT_PROMPT_CHARS
    for entry in reversed(messages):
        if is_prompt(entry.message) and not entry.inactive and left > 0:
            said = entry.message.text
            if len(said) > left:
                cut = entry.message.evolve(content=said[:left])
                entry = replace(entry, message=cut)
            kept.append(replace(entry, usage_tokens=None))
            left -= len(said)
    return [*opening, *reversed(kept)]
