"""How foreign agents mark a summary inside their messages, and taking it out.

Texts are matched, never written: this console marks its own summaries elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction.engine.messages import CARRIED_OPENING, Content, Kind, Message
from compaction.engine.phases.summary_text import bare_summary, is_wrapped

_HERMES_OPENING = re.compile(r"\s*\[CONTEXT COMPACTION [—–-] REFERENCE ONLY\]")
_HERMES_PREAMBLE_END = "avoid repeating it:"  # the last words of every long preamble
_HERMES_LEGACY = re.compile(r"\s*\[CONTEXT SUMMARY\]:?")
_HERMES_END = re.compile(r"\s*--- END OF CONTEXT SUMMARY\b[^\n]*---\s*\Z")
_HERMES_FALLBACK = "Summary generation was unavailable, so this is a best-effort"
_MERGED_OPENING = "[PRIOR CONTEXT — for reference only; not a new message]\n"
_MERGED_DELIMITER = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"
_SYNTHETIC_OPENINGS = (
    "[System: Your previous response was truncated",
    "[System: The previous response was cut off",
    "[System: Your previous tool call",
    "[Your active task list was preserved across context compression]",
    "[IMPORTANT: Background process ",
)

_CODEX_PREAMBLE = "Another language model started to solve this problem"
_CLAUDE_PREAMBLE = "This session is being continued from a previous conversation"


@dataclass(frozen=True, slots=True)
class Carried:
    """A summary that was found, and the text it shared a message with (or None)."""

    summary: str
    own: Content = None
    is_merged: bool = False


def hermes_summary(content: object) -> Carried | None:
    """Find a Hermes summary in a message's content, in any shape it ever had.

    Standalone with the long preamble or only its opening tag, with the old
    `[CONTEXT SUMMARY]:` tag, or merged behind the message's own text or parts.
    """
    if isinstance(content, str):
        return _in_text(content)
    if isinstance(content, list | tuple) and content:
        return _in_parts(tuple(content))
    return None


def _in_text(content: str) -> Carried | None:
    own, found, tail = content.partition(_MERGED_DELIMITER)
    bare = _bare_hermes(tail if found else content)
    if bare is None:
        return None
    if not found:
        return Carried(bare)
    return Carried(bare, _own_text(own), is_merged=True)


def _own_text(text: str) -> str:
    return text.removeprefix(_MERGED_OPENING).removesuffix("\n\n")


def _bare_hermes(text: str) -> str | None:
    if "[CONTEXT " not in text:  # nearly always; far cheaper than the patterns
        return None
    opening = _HERMES_OPENING.match(text)
    if opening is None:
        legacy = _HERMES_LEGACY.match(text)
        return _without_end(text[legacy.end() :]) if legacy else None
    first_line_end = text.find("\n", opening.end())
    stop = first_line_end if first_line_end >= 0 else len(text)
    preamble = text.find(_HERMES_PREAMBLE_END, opening.end(), stop)
    start = preamble + len(_HERMES_PREAMBLE_END) if preamble >= 0 else opening.end()
    return _without_end(text[start:])


def _without_end(text: str) -> str:
    mark = text.rfind("--- END OF CONTEXT SUMMARY")
    end = _HERMES_END.search(text, max(0, mark - 4)) if mark >= 0 else None
    return (text[: end.start()] if end else text).strip()


def _in_parts(parts: tuple[Any, ...]) -> Carried | None:
    last = parts[-1]
    carried = _in_text(_text(last))
    if carried is None:
        return None
    if not carried.is_merged:
        return carried if len(parts) == 1 else None
    rest = [part for part in parts[:-1] if _text(part) != _MERGED_OPENING]
    if carried.own:
        rest.append({"type": "text", "text": carried.own})
    return Carried(carried.summary, tuple(rest), is_merged=True)


def _text(part: object) -> str:
    if isinstance(part, Mapping):
        part = part.get("text")
    return part if isinstance(part, str) else ""


def label_hermes(message: Message) -> Message:
    """Mark a Hermes message as summary, summary carrier or synthetic."""
    found = hermes_summary(message.content)
    if found is None:
        is_synthetic = message.role == "user" and is_synthetic_text(message.content)
        return message.evolve(kind=Kind.SYNTHETIC) if is_synthetic else message
    if found.is_merged:
        return message.evolve(content=found.own, carried_summary=found.summary)
    return message.evolve(kind=Kind.SUMMARY)


def is_synthetic_text(content: object) -> bool:
    """Say whether Hermes wrote this user text itself."""
    return isinstance(content, str) and content.startswith(_SYNTHETIC_OPENINGS)


def is_fallback(summary: str) -> bool:
    """Say whether Hermes wrote this summary without a model, after a failure."""
    return _HERMES_FALLBACK in summary


def find_summary(content: object) -> Carried | None:
    """Find a summary of Hermes or of this console in a plain list of messages."""
    return hermes_summary(content) or _own_summary(content)


def _own_summary(content: object) -> Carried | None:
    if isinstance(content, str):
        own, opening, summary = content.rpartition(f"\n\n{CARRIED_OPENING}\n")
        if opening:
            return Carried(bare_summary(summary), own, is_merged=True)
        return Carried(bare_summary(content)) if is_wrapped(content) else None
    if not isinstance(content, list | tuple) or not content:
        return None
    last = _text(content[-1])
    if not is_wrapped(last):
        return None
    return Carried(bare_summary(last), tuple(content[:-1]), len(content) > 1)


def label_summary(message: Message) -> Message:
    """Mark a message of a plain list as summary, summary carrier or synthetic."""
    found = _own_summary(message.content)
    if found is None or hermes_summary(message.content) is not None:
        return label_hermes(message)
    if found.is_merged:
        return message.evolve(content=found.own, carried_summary=found.summary)
    return message.evolve(kind=Kind.SUMMARY)


def bare_codex(text: str) -> str:
    """Take the preamble line off a Codex compaction message."""
    return _without_first_line(text, _CODEX_PREAMBLE)


def bare_claude(text: str) -> str:
    """Take the preamble line off a Claude Code continuation summary."""
    return _without_first_line(text, _CLAUDE_PREAMBLE)


def _without_first_line(text: str, opening: str) -> str:
    text = text.strip()
    if not text.startswith(opening):
        return text
    return text.partition("\n")[2].strip() or text


def bare_tagged(text: str) -> str:
    """Take the text between `<summary>` tags when there are any."""
    _, opened, rest = text.partition("<summary>")
    inner, closed, _ = rest.rpartition("</summary>")
    return (inner if opened and closed else text).strip()
