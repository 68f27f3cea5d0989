"""What the rows share: conversations from several seeds, a counter, what came of them.

A conversation is compacted once for each way and asked by several rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from bench.quality.conversation import (
    SEED,
    FactsConversation,
    FactsShape,
    make_facts_conversation,
)
from bench.quality.facts import Fact
from bench.quality.rounds import (
    WINDOW,
    After,
    Asked,
    HermesSide,
    ask_once,
    compact_rounds,
)
from bench.quality.summarisers import DownModel, PerfectModel
from bench.rows import Skipped
from bench.workshop import Workshop
from compaction.adapters.embedded_summariser import EmbeddedSummariser
from compaction.adapters.tiktoken_counter import TiktokenCounter
from compaction.engine.phases.summary import Summariser
from compaction.engine.policy import CompactionPolicy
from compaction.engine.presets import TUTORIAL

SHAPES = {
    "F": FactsShape(rounds=10, groups=80, chars=5_000),
    "D": FactsShape(rounds=10, groups=160, chars=2_500),
}
"""F: a fact for every 900 tokens; D: twice as many in as much text."""

TINY = FactsShape(rounds=2, groups=24, chars=600)
SEEDS = (SEED, SEED + 1, SEED + 2)
OURS = CompactionPolicy(context_length=WINDOW)
SMALL = CompactionPolicy(context_length=8_000)


class Scene:
    """One workshop's conversations; the same letter, seed and way are made once."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self.seeds = SEEDS[:1] if workshop.is_quick else SEEDS
        self.policy = SMALL if workshop.is_quick else OURS
        self.counter = TiktokenCounter("o200k_base", cache_dir=workshop.folder)
        self.made = cache(self._make)
        self.after = cache(self._after)
        self.ask = cache(self._ask)

    def rounds(self, wanted: int) -> int:
        """Return how many rounds there really are: fewer in quick mode."""
        return min(wanted, TINY.rounds) if self._workshop.is_quick else wanted

    def _make(self, letter: str, seed: int) -> FactsConversation:
        shape = TINY if self._workshop.is_quick else SHAPES[letter]
        return make_facts_conversation(shape, seed)

    def afters(
        self, who: str, letter: str, way: str, number: int
    ) -> list[tuple[list[Fact], After]]:
        """Return for each seed its facts, and what there is after a round."""
        at = self.rounds(number) - 1
        return [
            (self.made(letter, seed).facts, self.after(who, letter, way, seed)[at])
            for seed in self.seeds
        ]

    def _after(self, who: str, letter: str, way: str, seed: int) -> list[After]:
        made = self.made(letter, seed)
        rounds = len(made.rounds)
        if who == "hermes":
            side = self._hermes_side(letter, seed)
            return side.compact_rounds(rounds, self.counter, summariser=way)
        policy = self.policy if who == "ours" else TUTORIAL
        summariser = _SUMMARISERS[way](made.facts)
        return compact_rounds(made, rounds, policy, summariser, self.counter)

    def _ask(self, who: str, letter: str, seed: int) -> Asked:
        if who == "hermes":
            return self._hermes_side(letter, seed).ask_once()
        policy = self.policy if who == "ours" else TUTORIAL
        return ask_once(self.made(letter, seed), policy, self.counter)

    def _hermes_side(self, letter: str, seed: int) -> HermesSide:
        folder = self._workshop.folder / f"{letter}-{seed}"
        folder.mkdir(exist_ok=True)
        return HermesSide(self._workshop.peer, self.made(letter, seed), folder)


_SUMMARISERS: dict[str, Callable[[list[Fact]], Summariser]] = {
    "embedded": lambda _: EmbeddedSummariser(),
    "perfect": lambda facts: PerfectModel([fact.text for fact in facts]),
    "down": lambda _: DownModel(),
}


@cache
def scene_of(workshop: Workshop) -> Scene:
    """Return the scene of a workshop, always the same."""
    return Scene(workshop)


def or_none(measure: Callable[[], float]) -> tuple[float | None, str]:
    """Measure the other side; where it cannot be had, say why instead."""
    try:
        return measure(), ""
    except Skipped as reason:
        return None, str(reason)
