"""Rows of the whole pass without a model: plan, prompt, assembly.

`compact_unmeasured` begins with the bare messages, `compact_nollm` with their stored
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bench.engine_setting import (
    COUNTER,
    POLICY,
    SITUATION,
    SUMMARISER_WINDOW,
    SUMMARY,
    WINDOW,
    stored_numbers,
)
from bench.inputs import Conversation
from bench.measuring import Take, cpu_seconds, side_by_side
from bench.rows import Measured, Row
from bench.workshop import Workshop
from compaction.engine.compactor import compact
from compaction.engine.llm import ChatRequest, Completion, OnChunk
from compaction.engine.messages import Message
from compaction.engine.outline import MessageFacts, Outline, outline_of
from compaction.engine.phases.assembly import assemble, middle_of
from compaction.engine.phases.prompts import transcript_budget
from compaction.engine.phases.transcript import each_chunk, limits_of
from compaction.engine.planning import plan_outline


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
    part = next(each_chunk(middle, limits_of(POLICY), budget=budget), None)
    assemble(plan, messages, SUMMARY, COUNTER)
    return len(part.text) if part else 0


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
