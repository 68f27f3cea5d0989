"""Phase 3c: ask for the summary; the only step that may cost or fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from compaction.engine.evidence.audit import LossAudit
from compaction.engine.llm import (
    ChatModel,
    ChatRequest,
    Completion,
    ModelError,
    OnChunk,
    Usage,
)
from compaction.engine.messages import Message
from compaction.engine.phases.completion_check import SummaryFault, check_completion
from compaction.engine.phases.prompts import (
    SummaryPrompt,
    missing_text,
)
from compaction.engine.phases.redaction import redact
from compaction.engine.phases.summary_text import bare_summary, without_markers
from compaction.engine.plan import Plan
from compaction.engine.policy import Template
from compaction.engine.thinking import strip_thinking
from compaction.engine.tokens import TokenCounter


class SummaryFailed(Exception):
    """No usable summary: `fault` says why, `error` is the model's error if it had one.

    Nothing of the conversation has changed when this is raised.
    """

    def __init__(
        self,
        fault: SummaryFault,
        *,
        error: ModelError | None = None,
        completion: Completion | None = None,
    ) -> None:
        super().__init__(str(error) if error else fault.value)
        self.fault = fault
        self.error = error
        self.completion = completion


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryResult:
    """A bare summary and what it cost; `latency` in seconds over all calls.

    `audit` says what it loses, `pinned` how many constraints stand in it word for word,
    `appended` how many items the console put back behind a model's words.
    """

    text: str
    model: str
    embedded: bool = False
    usage: Usage | None = None
    latency: float = 0.0
    calls: int = 1
    audit: LossAudit | None = None
    pinned: int = 0
    appended: int = 0
    asked_again: bool = False


@runtime_checkable
class RuleSummariser(Protocol):
    """A summariser without a model: it reads the messages, not a prompt."""

    @property
    def name(self) -> str:
        """Its name, for operators."""

    def write_summary(
        self,
        messages: Sequence[Message],
        *,
        previous: str,
        template: Template,
        budget_tokens: int,
        counter: TokenCounter,
    ) -> str:
        """Write a bare summary of the messages on top of the previous one."""


Summariser = ChatModel | RuleSummariser


def summarise_by_rule(
    plan: Plan,
    middle: Sequence[Message],
    summariser: RuleSummariser,
    counter: TokenCounter,
    *,
    spare: int = 0,
) -> SummaryResult:
    """Let the embedded summariser write; it can neither fail nor cost.

    `spare` tokens of the budget are left for what others add. Pinned constraints are
    part of what it is given: which of them are pinned this time is decided afterwards,
    and the others must not be lost.
    """
    text = summariser.write_summary(
        middle,
        previous=redact(bare_summary(plan.situation.previous_summary)),
        template=plan.policy.template,
        budget_tokens=max(plan.summary_budget // 2, plan.summary_budget - spare),
        counter=counter,
    )
    return SummaryResult(
        text=bare_summary(redact(text)), model=summariser.name, embedded=True, calls=0
    )


def summarise_by_model(
    prompt: SummaryPrompt, model: ChatModel, on_chunk: OnChunk | None = None
) -> SummaryResult:
    """Ask the model, part after part; raises SummaryFailed."""
    text = prompt.previous
    answers: list[Completion] = []
    for part in range(len(prompt.parts)):
        answers.append(_ask(prompt.request_messages(part, text), model, on_chunk))
        text = text_of_answer(answers[-1])
    return SummaryResult(
        text=text,
        model=answers[-1].model or model.name,
        embedded=answers[-1].embedded,
        usage=add_usage([a.usage for a in answers]),
        latency=sum(a.latency for a in answers),
        calls=len(answers),
    )


def text_of_answer(answer: Completion) -> str:
    """The bare summary in an answer: no thinking, no wrapping, no secrets."""
    bare = bare_summary(redact(strip_thinking(answer.text)))
    return without_markers(bare).strip()


def rewrite_by_model(
    prompt: SummaryPrompt, model: ChatModel, written: str, missing: Sequence[str]
) -> Completion | None:
    """Ask once more, for a summary with all of `missing` in it; None: it failed.

    What was written first is kept then, so a failure costs nothing but the call.
    """
    last = len(prompt.parts) - 1
    messages = (
        *prompt.request_messages(last, prompt.previous),
        {"role": "assistant", "content": written},
        {"role": "user", "content": missing_text(missing)},
    )
    try:
        return _ask(messages, model, None)
    except SummaryFailed:
        return None


def _ask(
    messages: tuple[dict[str, object], ...],
    model: ChatModel,
    on_chunk: Callable[[str], None] | None,
) -> Completion:
    try:
        completion = model.complete(ChatRequest(messages=messages), on_chunk=on_chunk)
    except ModelError as error:
        raise SummaryFailed(SummaryFault.CALL_FAILED, error=error) from error
    fault = check_completion(completion)
    if fault is not None:
        raise SummaryFailed(fault, completion=completion)
    return completion


def add_usage(usages: Sequence[Usage | None]) -> Usage | None:
    """Add up what several calls cost, None when no call said."""
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    return Usage(
        input_tokens=sum(u.input_tokens for u in known),
        output_tokens=sum(u.output_tokens for u in known),
        reasoning_tokens=sum(u.reasoning_tokens for u in known),
        cached_tokens=sum(u.cached_tokens for u in known),
    )
