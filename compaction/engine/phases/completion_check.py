"""Whether an answer can stand as a summary."""

from __future__ import annotations

import re
from enum import StrEnum

from compaction.engine.llm import Completion


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


_MARKUP = re.compile(
    r"^\s{0,20}(?:```\w{0,10}\s{0,5})?(?:<tool_call>|<function[=\s_]|<\|tool|\[TOOL_CALL)",
    re.IGNORECASE,
)
_HTML = re.compile(r"^\s{0,20}(?:<!doctype html|<html[\s>])", re.IGNORECASE)
_FINISH = {
    None: SummaryFault.UNFINISHED,
    "length": SummaryFault.CUT_SHORT,
    "content_filter": SummaryFault.FILTERED,
    "tool_calls": SummaryFault.TOOL_MARKUP,
    "function_call": SummaryFault.TOOL_MARKUP,
}


def check_completion(completion: Completion) -> SummaryFault | None:
    """Return what makes an answer unusable, None for a usable one.

    Blank text would wipe the middle (hermes#94606), reasoning without text is not a
    summary (hermes#70207), markup would be read as a call (open-webui#29308).
    """
    if not completion.text.strip():
        return _check_blank(completion)
    if _HTML.match(completion.text):
        return SummaryFault.HTML
    if _MARKUP.match(completion.text) or completion.tool_calls:
        return SummaryFault.TOOL_MARKUP
    return _FINISH.get(completion.finish_reason)


def _check_blank(completion: Completion) -> SummaryFault:
    if completion.tool_calls:
        return SummaryFault.TOOL_MARKUP
    if completion.reasoning.strip():
        return SummaryFault.REASONING_ONLY
    return SummaryFault.BLANK
