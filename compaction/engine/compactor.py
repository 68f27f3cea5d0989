"""Compaction in three steps: plan, summarise, assemble.

`plan` is pure and free, `summarise` the only step that may cost or fail, `assemble`
pure again. So every preview is the real plan, and a run does what was previewed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compaction.engine.briefing import write_briefing
from compaction.engine.keeping import Evidence, Keeper, Kept, evidence_of, keeper_of
from compaction.engine.llm import ChatModel, Completion, OnChunk
from compaction.engine.messages import Kind, Message
from compaction.engine.outline import outline_of
from compaction.engine.phases.assembly import (
    Assembly,
    assemble,
    middle_of,
    span_of,
    staying_of,
)
from compaction.engine.phases.prompts import (
    SummaryPrompt,
    write_prompt as write_summary_prompt,
)
from compaction.engine.phases.pruning import prune
from compaction.engine.phases.summary import (
    RuleSummariser,
    Summariser,
    SummaryFailed,
    SummaryResult,
    add_usage,
    rewrite_by_model,
    summarise_by_model,
    summarise_by_rule,
    text_of_answer,
)
from compaction.engine.phases.summary_text import bare_summary
from compaction.engine.plan import Outcome, Plan, Situation, Verdict
from compaction.engine.planning import plan_outline
from compaction.engine.policy import CompactionPolicy, OnFailure, PruneRule
from compaction.engine.tokens import TokenCounter
from compaction.engine.triggers import ERRORS


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What a whole run did; the input list itself when nothing changed."""

    plan: Plan
    outcome: Outcome
    messages: tuple[Message, ...]
    origins: tuple[int | None, ...]
    tokens_after: int
    summary: SummaryResult | None = None
    failure: SummaryFailed | None = None
    assembly: Assembly | None = None


def plan(
    messages: Sequence[Message],
    policy: CompactionPolicy,
    counter: TokenCounter,
    *,
    situation: Situation | None = None,
) -> Plan:
    """Plan a run over messages; finds the running summary if none is given."""
    known = situation or Situation()
    if not known.previous_summary:
        known = replace(known, previous_summary=find_summary(messages))
    return plan_outline(outline_of(messages, counter), policy, situation=known)


def find_summary(messages: Sequence[Message]) -> str:
    """The bare text of the running summary, '' if there is none."""
    for message in reversed(messages):
        if message.carried_summary:
            return bare_summary(message.carried_summary)
        if message.kind is Kind.SUMMARY:
            return bare_summary(message.text)
    return ""


def write_prompt(
    plan: Plan, messages: Sequence[Message], evidence: Evidence | None = None
) -> SummaryPrompt:
    """Write the prompt exactly as a run would send it; costs nothing.

    The articles prune before they serialise. Otherwise the evidence of the whole
    middle stands beside it, and outputs stand whole as far as there is room.
    """
    pruned = middle_of(plan, prune(plan, messages)[0])
    if plan.policy.list_evidence:
        found = evidence or evidence_of(plan, messages)
        return write_briefing(plan, middle_of(plan, messages), pruned, found.in_middle)
    is_pruned_first = plan.policy.prune_rule is not PruneRule.BEFORE_TAIL
    middle = pruned if is_pruned_first else middle_of(plan, messages)
    return write_summary_prompt(plan, middle)


def summarise(
    plan: Plan,
    messages: Sequence[Message],
    summariser: Summariser,
    *,
    counter: TokenCounter,
    on_chunk: OnChunk | None = None,
) -> SummaryResult:
    """Get the summary of the plan's middle, with what must not get lost in it.

    Raises SummaryFailed.
    """
    evidence = evidence_of(plan, messages)
    keeper = keeper_of(plan, evidence, staying_of(plan, messages), counter)
    if isinstance(summariser, RuleSummariser):
        return _by_rule(plan, span_of(plan, messages), summariser, keeper)
    prompt = write_prompt(plan, messages, evidence)
    result = summarise_by_model(prompt, summariser, on_chunk)
    second = _SecondTry(prompt, summariser)
    kept = keeper.keep_all(result.text, second.rewrite)
    return _kept(second.add_to(result), keeper, kept)


def _by_rule(
    plan: Plan, span: Sequence[Message], summariser: RuleSummariser, keeper: Keeper
) -> SummaryResult:
    """Let rules write, and pin what they wrote; again in less room where pins add."""
    spare = 0
    for _ in range(_FITTINGS):
        result = summarise_by_rule(plan, span, summariser, keeper.counter, spare=spare)
        kept = keeper.keep(result.text)
        over = keeper.counter.count(kept.text) - plan.summary_budget
        if over <= 0:
            break
        spare += over + _SLACK
    return _kept(result, keeper, kept)


_FITTINGS = 4
_SLACK = 16  # tokens: lines that are left out make others fit, never quite as long


class _SecondTry:
    """Asks a model once more, and remembers what that cost."""

    def __init__(self, prompt: SummaryPrompt, model: ChatModel) -> None:
        self._prompt = prompt
        self._model = model
        self._answer: Completion | None = None

    def rewrite(self, written: str, missing: Sequence[str]) -> str | None:
        answer = rewrite_by_model(self._prompt, self._model, written, missing)
        self._answer = answer
        return None if answer is None else text_of_answer(answer)

    def add_to(self, result: SummaryResult) -> SummaryResult:
        if self._answer is None:
            return result
        return replace(
            result,
            usage=add_usage([result.usage, self._answer.usage]),
            latency=result.latency + self._answer.latency,
            calls=result.calls + 1,
        )


def _kept(result: SummaryResult, keeper: Keeper, kept: Kept) -> SummaryResult:
    return replace(
        result,
        text=kept.text,
        audit=kept.audit,
        pinned=len(keeper.pins.lines),
        appended=kept.appended,
        asked_again=kept.asked_again,
    )


UNCHANGED: dict[Verdict, Outcome] = {
    Verdict.NOOP: Outcome.NOOP,
    Verdict.STUCK: Outcome.STUCK,
    Verdict.DEFERRED: Outcome.DEFERRED,
}
"""Verdicts that change nothing, and the outcome they lead to."""


def compact(
    messages: Sequence[Message],
    policy: CompactionPolicy,
    summariser: Summariser,
    counter: TokenCounter,
    *,
    situation: Situation | None = None,
) -> Compaction:
    """Run the three steps in a row, without a database."""
    made = plan(messages, policy, counter, situation=situation)
    if made.verdict in UNCHANGED:
        return _unchanged(made, messages, UNCHANGED[made.verdict])
    if made.verdict is Verdict.PRUNE:
        return _finished(made, assemble(made, messages, None, counter))
    try:
        summary = summarise(made, messages, summariser, counter=counter)
    except SummaryFailed as failure:
        return _failed(made, messages, failure, counter)
    return _finished(made, assemble(made, messages, summary.text, counter), summary)


def failure_text(plan: Plan, failure: SummaryFailed) -> str | None:
    """What stands for a summary that failed; None: abort, and keep everything.

    Article 000 drops the middle behind a placeholder, article 003 puts the error's
    text there; the field reports whole sessions lost by both (hermes#29559).
    """
    if plan.policy.on_failure is OnFailure.PLACEHOLDER:
        return (
            f"No summary could be made. {plan.sizes.middle_count} earlier messages "
            "were removed to free space. Go on from the messages below and from the "
            "present state of files."
        )
    if plan.policy.on_failure is OnFailure.ERROR_TEXT:
        return f"(summary failed: {failure})"
    return None


def needs_stand_in(plan: Plan) -> bool:
    """True when the agent cannot go on without a run: the embedded one stands in."""
    return (
        plan.policy.on_failure is OnFailure.ABORT and plan.situation.trigger in ERRORS
    )


def _failed(
    plan: Plan,
    messages: Sequence[Message],
    failure: SummaryFailed,
    counter: TokenCounter,
) -> Compaction:
    text = failure_text(plan, failure)
    if text is None:
        return replace(_unchanged(plan, messages, Outcome.ABORTED), failure=failure)
    done = _finished(plan, assemble(plan, messages, text, counter))
    return replace(done, failure=failure)


def _unchanged(plan: Plan, messages: Sequence[Message], outcome: Outcome) -> Compaction:
    return Compaction(
        plan=plan,
        outcome=outcome,
        messages=tuple(messages),
        origins=tuple(range(len(messages))),
        tokens_after=plan.tokens_before,
    )


def _finished(
    plan: Plan, assembly: Assembly, summary: SummaryResult | None = None
) -> Compaction:
    return Compaction(
        plan=plan,
        outcome=assembly.outcome,
        messages=assembly.messages,
        origins=assembly.origins,
        tokens_after=assembly.tokens_after,
        summary=summary,
        assembly=assembly,
    )
