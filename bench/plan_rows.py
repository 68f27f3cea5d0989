"""Rows of planning: from stored numbers, at every turn, and as a conversation grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle, islice
from typing import Any

from bench.engine_setting import COUNTER, POLICY, WINDOW, stored_numbers
from bench.measuring import Take, cpu_seconds, side_by_side
from bench.rows import Measured, Row
from bench.workshop import Workshop
from compaction.engine.messages import Message
from compaction.engine.outline import MessageFacts, Outline, facts_of, outline_of
from compaction.engine.planning import plan_outline
from compaction.engine.triggers import Trigger, is_due


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
)
