"""When an answer was cut off: go on, or stop because going on would not help."""

from __future__ import annotations

from enum import StrEnum

from compaction.engine.llm import Completion
from compaction.engine.thinking import strip_thinking

CONTINUE_TEXT = "Please continue from where you left off."
"""What is sent after a cut answer (article 003: a bare "continue" is too vague)."""

CUT = "length"


class NextStep(StrEnum):
    """What to do with an answer."""

    ACCEPT = "accept"
    CONTINUE = "continue"
    THINKING_BUDGET_EXHAUSTED = "thinking_budget_exhausted"
    IDENTICAL_CONTINUATION = "identical_continuation"
    BUDGET_EXHAUSTED = "continuation_budget_exhausted"
    RETRY_TOOL_CALL = "retry_tool_call"


def next_step(
    completion: Completion,
    *,
    used: int,
    limit: int,
    previous_text: str | None = None,
) -> NextStep:
    """Decide about an answer after `used` of `limit` continuations.

    Reasoning alone means that the model spends its whole budget on thinking: going
    on wastes every continuation (hermes#83915). The same text twice is no progress
    (hermes#58087).
    """
    if completion.finish_reason != CUT:
        return NextStep.ACCEPT
    if completion.tool_calls:
        exhausted = used >= limit
        return NextStep.BUDGET_EXHAUSTED if exhausted else NextStep.RETRY_TOOL_CALL
    if spent_on_thinking(completion):
        return NextStep.THINKING_BUDGET_EXHAUSTED
    if previous_text is not None and completion.text.strip() == previous_text.strip():
        return NextStep.IDENTICAL_CONTINUATION
    return NextStep.BUDGET_EXHAUSTED if used >= limit else NextStep.CONTINUE


def spent_on_thinking(completion: Completion) -> bool:
    """True when nothing but reasoning came out (article 003, thinking budget)."""
    visible = strip_thinking(completion.text)
    if visible.strip():
        return False
    usage = completion.usage
    thought = bool(completion.reasoning.strip()) or visible != completion.text
    return thought or (usage is not None and usage.reasoning_tokens > 0) or not visible
