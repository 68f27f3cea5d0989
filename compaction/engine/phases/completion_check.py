"""Whether an answer can stand as a summary.

A provider calls many things an answer that would wipe the middle of a conversation if
they were put in its place. A summary that only quotes such a thing is a good summary.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum

from compaction.engine.llm import Completion
from compaction.engine.thinking import strip_thinking


class SummaryFault(StrEnum):
    """Why there is no usable summary, as a code for the templates."""

    CALL_FAILED = "call_failed"
    BLANK = "blank"
    REASONING_ONLY = "reasoning_only"
    TOOL_MARKUP = "tool_markup"
    CUT_SHORT = "cut_short"
    FILTERED = "filtered"
    UNFINISHED = "unfinished"
    HTML = "html"


_HTML = re.compile(r"\s{0,20}(?:<!doctype html|<html[\s>])", re.IGNORECASE)
_CODE = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)|\Z)|`[^`\n]+`", re.M | re.S)
_HEADING = re.compile(r"^#{1,4} \S", re.MULTILINE)
_OPENING = (
    r"(?:<(?:tool_call|function_calls?|tool_use|invoke|antml:\w+)\b[^>\n]{0,200}>"
    r"|<function=[^>\n]{1,200}>|<\|tool[^|\n]{0,60}\|>|<｜tool[^｜\n]{0,60}｜>"
    r"|\[/?TOOL_CALLS?\])"
)
_BEGINS = re.compile(rf"\s{{0,20}}{_OPENING}", re.IGNORECASE)
_BLOCK = re.compile(rf"^[ \t]{{0,8}}{_OPENING}", re.IGNORECASE | re.MULTILINE)
_CLOSES = re.compile(
    r"(?:</(?:tool_call|function_calls?|tool_use|invoke|function|antml:\w+)>"
    r"|\[/TOOL_CALLS?\]|<\|tool[^|\n]{0,60}end\|>|[}\]])\s*\Z",
    re.IGNORECASE,
)
_FINISH = {
    None: SummaryFault.UNFINISHED,
    "length": SummaryFault.CUT_SHORT,
    "max_tokens": SummaryFault.CUT_SHORT,
    "content_filter": SummaryFault.FILTERED,
    "error": SummaryFault.UNFINISHED,
}


def check_completion(completion: Completion) -> SummaryFault | None:
    """Return what makes an answer unusable, None for a usable one.

    Blank text would wipe the middle (hermes#94606), reasoning without text is not a
    summary (hermes#70207), markup would be read as a call (open-webui#29308).
    """
    text = strip_thinking(completion.text)
    if not text.strip():
        return _check_blank(completion)
    if _HTML.match(text):
        return SummaryFault.HTML
    if is_tool_call(text) or (completion.tool_calls and not _HEADING.search(text)):
        return SummaryFault.TOOL_MARKUP
    return _FINISH.get(completion.finish_reason)


def _check_blank(completion: Completion) -> SummaryFault:
    if completion.tool_calls:
        return SummaryFault.TOOL_MARKUP
    if completion.finish_reason == "content_filter":
        return SummaryFault.FILTERED
    if completion.reasoning.strip() or completion.text.strip():
        return SummaryFault.REASONING_ONLY
    return SummaryFault.BLANK


def is_tool_call(text: str) -> bool:
    """True when a text is a tool call, begins with one, or ends with one.

    Markup quoted in code or in a sentence is none.
    """
    if _BEGINS.match(text) or _is_json_call(text):
        return True
    bare = _CODE.sub("", text)
    if not bare.strip():
        return bool(_BEGINS.match(_inner_code(text)))
    blocks = list(_BLOCK.finditer(bare))
    return bool(blocks) and bool(_CLOSES.search(bare))


def _inner_code(text: str) -> str:
    """Return what a text that is one block of code holds."""
    lines = text.strip().splitlines()
    return "\n".join(line for line in lines if not line.startswith(("```", "~~~")))


_CALL_KEYS = (
    {"name", "arguments"},
    {"name", "parameters"},
    {"name", "input"},
    {"function", "arguments"},
    {"tool", "args"},
    {"tool", "arguments"},
    {"tool_name", "arguments"},
    {"action", "action_input"},
    {"tool_calls"},
)
_MOST_JSON = 200_000  # characters


def _is_json_call(text: str) -> bool:
    inner = _inner_code(text)
    if inner[:1] not in ("{", "[") or len(inner) > _MOST_JSON:
        return False
    try:
        value = json.loads(inner)
    except (ValueError, RecursionError):
        return False
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and _is_call(first)


def _is_call(value: dict[str, object]) -> bool:
    if value.get("type") in ("function", "tool_use", "function_call"):
        return True
    return any(keys <= value.keys() for keys in _CALL_KEYS)
