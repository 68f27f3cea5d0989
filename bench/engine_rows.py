"""Rows of the engine: planning, the whole pass without a model, redaction.

A message is measured once, when it is written: its numbers stand beside it in the
database. Rows that say "stored numbers" begin there, as every page and every run does;
`compact_unmeasured` begins with the bare messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle, islice
from typing import Any

from bench.inputs import Conversation
from bench.measuring import Take, cpu_seconds, side_by_side
from bench.rows import Measured, Row
from bench.workshop import Workshop
from compaction.engine.compactor import compact
from compaction.engine.llm import ChatRequest, Completion, OnChunk
from compaction.engine.messages import Message
from compaction.engine.outline import MessageFacts, Outline, facts_of, outline_of
from compaction.engine.phases.assembly import assemble, middle_of
from compaction.engine.phases.prompts import transcript_budget
from compaction.engine.phases.transcript import each_chunk, limits_of
from compaction.engine.plan import Situation
from compaction.engine.planning import plan_outline
from compaction.engine.policy import CompactionPolicy
from compaction.engine.tokens import RoughCounter
from compaction.engine.triggers import Trigger, is_due

WINDOW = 200_000
"""Context length of the agent in tokens, on both sides."""

SUMMARISER_WINDOW = 128_000
"""Context length of the summariser in tokens: the console's own default."""

POLICY = CompactionPolicy(context_length=WINDOW)
SITUATION = Situation(summariser_window=SUMMARISER_WINDOW)
COUNTER = RoughCounter()
"""The peer estimates, so here an estimate counts as well."""

SUMMARY = "## Goal\nA fixed summary."


class FixedModel:
    """A model that answers at once and always the same."""

    name = "fixed"
    window = SUMMARISER_WINDOW

    def complete(
        self,
        request: ChatRequest,  # noqa: ARG002
        *,
        on_chunk: OnChunk | None = None,  # noqa: ARG002
    ) -> Completion:
        """Answer a fixed summary."""
        return Completion(text=SUMMARY, finish_reason="stop", model=self.name)


def stored_numbers(conversation: Conversation) -> Sequence[MessageFacts]:
    """Return the numbers that stand beside the messages."""
    return outline_of(conversation.messages, COUNTER).facts


# --- planning ----------------------------------------------------------------
def add_up(messages: Sequence[dict[str, Any]]) -> list[int]:
    """The floor: chars // 4 of contents and calls, summed up in one linear pass."""
    sums = [0]
    total = 0
    for message in messages:
        chars = len(message["content"])
        for call in message.get("tool_calls", ()):
            function = call["function"]
            chars += len(call["id"]) + len(function["name"])
            chars += len(function["arguments"])
        total += chars // 4
        sums.append(total)
    return sums


def plan_cold(letter: str) -> Callable[[Workshop], Measured]:
    """A plan from stored numbers, nothing else at hand."""

    def measure(workshop: Workshop) -> Measured:
        conversation = workshop.conversation(letter)
        facts = stored_numbers(conversation)
        return side_by_side(
            lambda: cpu_seconds(lambda: plan_outline(Outline(facts), POLICY)),
            lambda: cpu_seconds(lambda: add_up(conversation.dicts)),
            runs=2 * workshop.sizes.runs,
        )

    return measure


def plan_warm(workshop: Workshop) -> Measured:
    """One more message and a new plan, against the peer's walk for its boundaries."""
    file = str(workshop.conversation("L").file)
    walk = workshop.peer.seconds("find_boundaries", file=file, window=WINDOW, times=3)
    return side_by_side(_warm(workshop, "L"), walk, runs=workshop.sizes.runs)


def plan_warm_growth(workshop: Workshop) -> Measured:
    """The same for a long and for a short conversation."""
    return side_by_side(
        _warm(workshop, "L"), _warm(workshop, "S"), runs=2 * workshop.sizes.runs
    )


def _warm(workshop: Workshop, letter: str) -> Take:
    """Take the seconds of measuring and appending one message and planning anew."""
    messages = workshop.conversation(letter).messages
    repeats = workshop.sizes.repeats

    def take() -> float:
        outline = outline_of(messages, COUNTER)
        new = list(islice(cycle(messages[1:]), repeats))
        return cpu_seconds(lambda: _follow(outline, new)) / repeats

    return take


def _follow(outline: Outline, new: Sequence[Message]) -> None:
    for message in new:
        outline.append(facts_of(message, COUNTER))
        plan_outline(outline, POLICY)


def session_total(workshop: Workshop) -> Measured:
    """ "Compact now?" after each message of a long session, from stored numbers."""
    conversation = workshop.conversation("W")
    turns = workshop.sizes.turns
    facts = stored_numbers(conversation)[:turns]
    estimate = workshop.peer.seconds(
        "estimate_session", file=str(conversation.file), turns=turns
    )
    return side_by_side(
        lambda: cpu_seconds(lambda: ask_each_turn(facts)),
        estimate,
        runs=min(2, workshop.sizes.runs),
        warm_ups=0,
    )


def ask_each_turn(facts: Sequence[MessageFacts]) -> int:
    """Take each message as it comes and ask; return how often a run was due."""
    outline = Outline()
    due = 0
    for fact in facts:
        outline.append(fact)
        due += is_due(outline.tokens, len(outline), Trigger.PREFLIGHT, POLICY)
    return due


# --- the whole pass ----------------------------------------------------------
def compact_nollm(letter: str) -> Callable[[Workshop], Measured]:
    """Plan, prompt and assembly from stored numbers, against the peer's whole pass."""

    def measure(workshop: Workshop) -> Measured:
        conversation = workshop.conversation(letter)
        facts = stored_numbers(conversation)
        return _against_whole_pass(
            workshop, conversation, lambda: pass_over(conversation.messages, facts)
        )

    return measure


def compact_unmeasured(letter: str) -> Callable[[Workshop], Measured]:
    """The same, and every message measured first."""

    def measure(workshop: Workshop) -> Measured:
        conversation = workshop.conversation(letter)

        def work() -> None:
            facts = outline_of(conversation.messages, COUNTER).facts
            pass_over(conversation.messages, facts)

        return _against_whole_pass(workshop, conversation, work)

    return measure


def pass_over(messages: Sequence[Message], facts: Sequence[MessageFacts]) -> int:
    """Do what a run does but for the model; return the characters of the prompt.

    A middle larger than the summariser's window goes there in parts, one request
    each; one such part is written, as much as the peer is let write.
    """
    plan = plan_outline(Outline(facts), POLICY, situation=SITUATION)
    middle = middle_of(plan, messages)
    budget = transcript_budget(plan, middle, previous="")
    part = next(each_chunk(middle, limits_of(POLICY), budget=budget), "")
    assemble(plan, messages, SUMMARY, COUNTER)
    return len(part)


def _against_whole_pass(
    workshop: Workshop, conversation: Conversation, work: Callable[[], object]
) -> Measured:
    chars = pass_over(conversation.messages, stored_numbers(conversation))
    whole = workshop.peer.seconds(
        "compress", file=str(conversation.file), window=WINDOW, prompt_chars=chars
    )
    return side_by_side(lambda: cpu_seconds(work), whole, runs=workshop.sizes.runs)


def compact_growth(workshop: Workshop) -> Measured:
    """A whole run over bare messages, every part of the prompt written: L and M."""

    def take(letter: str) -> Take:
        messages = workshop.conversation(letter).messages
        return lambda: cpu_seconds(
            lambda: compact(
                messages, POLICY, FixedModel(), COUNTER, situation=SITUATION
            )
        )

    return side_by_side(take("L"), take("M"), runs=min(3, workshop.sizes.runs))


ROWS = (
    *(
        Row(
            name=f"plan_cold/{letter}",
            target="3",
            measure=plan_cold(letter),
            against="adding up lengths in one pass",
        )
        for letter in "LW"
    ),
    Row(
        name="plan_warm",
        target="1/1000",
        measure=plan_warm,
        against="Hermes' walk for its boundaries over 100,000 messages",
    ),
    Row(
        name="plan_warm_growth",
        target="2",
        measure=plan_warm_growth,
        against="the same over 1,000 messages",
    ),
    Row(
        name="session_total",
        target="1/1000",
        measure=session_total,
        against="Hermes' estimate at each of 2,000 turns",
    ),
    *(
        Row(
            name=f"compact_nollm/{letter}",
            target="1/5",
            measure=compact_nollm(letter),
            against="Hermes' whole pass, redaction on, an equally long prompt",
        )
        for letter in "LW"
    ),
    *(
        Row(
            name=f"compact_unmeasured/{letter}",
            target="2",
            measure=compact_unmeasured(letter),
            against="Hermes' whole pass, redaction on, an equally long prompt",
        )
        for letter in "LW"
    ),
    Row(
        name="compact_growth",
        target="12",
        measure=compact_growth,
        against="a whole run over 10,000 messages instead of 100,000",
    ),
)
