"""A conversation with planted facts: made from a seed, in rounds, for both sides.

Its phrasings are its own: nothing here is read by, or taken from, what looks for them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from bench.quality.facts import Fact, Place
from bench.quality.planter import Plant
from bench.quality.planting import plants

Dicts = list[dict[str, Any]]
SEED = 7_411


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsShape:
    """How many rounds, groups of messages in each, and characters of a tool's output.

    A group plants about one fact; `chars` is a mean.
    """

    rounds: int = 5
    groups: int = 80
    chars: int = 5_000


@dataclass(slots=True)
class FactsConversation:
    """Messages by round, and all facts; positions count over all rounds."""

    rounds: list[Dicts] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)

    @property
    def messages(self) -> Dicts:
        """All messages in one list."""
        return [message for turns in self.rounds for message in turns]

    def ends(self) -> list[int]:
        """How many messages there are after each round."""
        ends, count = [], 0
        for turns in self.rounds:
            count += len(turns)
            ends.append(count)
        return ends


def make_facts_conversation(shape: FactsShape, seed: int = SEED) -> FactsConversation:
    """Make a conversation; the same shape and seed give the same one."""
    made = FactsConversation()
    started: dict[str, int] = {}
    groups = plants(random.Random(seed), shape.rounds * shape.groups, shape.chars)
    for number, plant in enumerate(groups):
        if number % shape.groups == 0:
            made.rounds.append([])
        base = sum(map(len, made.rounds))
        made.rounds[-1].extend(plant.messages)
        _note(made.facts, started, plant, base)
    return made


def _note(facts: list[Fact], started: dict[str, int], plant: Plant, base: int) -> None:
    """Write down what a group says, and what it ends."""
    if plant.ends:
        index = started[plant.ends]
        facts[index] = replace(
            facts[index], ended=base + plant.offset, successor=plant.successor
        )
    if plant.text:
        started[plant.key] = len(facts)
        fact = Fact(
            kind=plant.kind,
            text=plant.text,
            place=plant.place,
            position=base + plant.offset,
            ended=base + plant.offset if plant.is_ended else None,
        )
        facts.append(fact)


def by_place(facts: list[Fact]) -> Iterator[tuple[Place, list[Fact]]]:
    """Sort facts by where they stand."""
    for place in Place:
        yield place, [fact for fact in facts if fact.place is place]
