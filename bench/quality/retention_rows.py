"""Rows of what survives: into the prompt, without a model, over the rounds.

Each row is the worst of three seeds. The other side is the mean: it is judged by none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean

from bench.quality.facts import MUST, Fact, Kind
from bench.quality.judging import share, stale_lines
from bench.quality.rounds import After
from bench.quality.scene import Scene, or_none, scene_of
from bench.rows import Measured, Row, Rule
from bench.workshop import Workshop

Judge = Callable[[Sequence[Fact], After], float]


def facts_into_prompt(other: str) -> Callable[[Workshop], Measured]:
    """The share of the middle's facts that the summariser is sent."""

    def measure(workshop: Workshop) -> Measured:
        scene = scene_of(workshop)
        told, why = or_none(lambda: mean(_sent(scene, other)))
        return Measured(ours=min(_sent(scene, "ours")), other=told, unit="", note=why)

    return measure


def _sent(scene: Scene, who: str) -> list[float]:
    shares = []
    for seed in scene.seeds:
        made, asked = scene.made("F", seed), scene.ask(who, "F", seed)
        end, middle = len(made.messages), asked.middle
        told = share(
            made.facts,
            asked.prompt,
            where=lambda f, end=end, middle=middle: (  # type: ignore[misc]
                f.holds(end) and f.position in middle
            ),
        )
        shares.append(told)
    return shares


def prompt_chars(workshop: Workshop) -> Measured:
    """Characters that the summariser is sent for it."""
    scene = scene_of(workshop)
    return Measured(
        ours=mean(scene.ask("ours", "F", seed).chars for seed in scene.seeds),
        other=mean(scene.ask("hermes", "F", seed).chars for seed in scene.seeds),
        unit="",
    )


def facts_no_llm(letter: str, number: int) -> Callable[[Workshop], Measured]:
    """The share of the middle's facts that the summary tells without a model."""

    def measure(workshop: Workshop) -> Measured:
        scene = scene_of(workshop)
        ours = scene.afters("ours", letter, "embedded", number)
        told, why = or_none(
            lambda: mean(
                _each(scene.afters("hermes", letter, "down", number), middle_share)
            )
        )
        tails = mean(_each(ours, tail_share))
        tokens = max(after.tokens for _, after in ours)
        note = f"up to {tokens:,} tokens; {tails:.0%} of all facts stand in our tail"
        return Measured(
            ours=min(_each(ours, middle_share)),
            other=told,
            unit="",
            note="; ".join(filter(None, (note, why))),
        )

    return measure


def _each(afters: Sequence[tuple[Sequence[Fact], After]], judge: Judge) -> list[float]:
    return [judge(facts, after) for facts, after in afters]


def middle_share(facts: Sequence[Fact], after: After) -> float:
    """What a summary tells of the facts that it alone stands for."""
    return share(
        facts,
        after.summary,
        where=lambda f: f.holds(after.end) and after.was_summarised(f.position),
    )


def tail_share(facts: Sequence[Fact], after: After) -> float:
    """The share of facts whose own message is still there."""
    holding = [fact for fact in facts if fact.holds(after.end)]
    stays = sum(not after.was_summarised(fact.position) for fact in holding)
    return stays / max(1, len(holding))


def session_share(facts: Sequence[Fact], after: After) -> float:
    """What the agent would be sent of all facts that hold."""
    return share(facts, after.whole, where=lambda fact: fact.holds(after.end))


def share_of(kind: Kind) -> Judge:
    """The same for facts of one kind."""

    def judge(facts: Sequence[Fact], after: After) -> float:
        return session_share([fact for fact in facts if fact.kind is kind], after)

    return judge


def budget_kept(letter: str) -> Callable[[Workshop], Measured]:
    """Tokens of the fullest of all summaries without a model, and its budget."""

    def measure(workshop: Workshop) -> Measured:
        scene = scene_of(workshop)
        every = [
            after
            for seed in scene.seeds
            for after in scene.after("ours", letter, "embedded", seed)
        ]
        fullest = max(every, key=lambda after: after.tokens / after.budget)
        return Measured(ours=fullest.tokens, other=fullest.budget, unit="")

    return measure


def facts_rounds(other: str) -> Callable[[Workshop], Measured]:
    """The share of all facts after 5 rounds with a perfect summariser."""

    def measure(workshop: Workshop) -> Measured:
        scene = scene_of(workshop)
        ours = scene.afters("ours", "F", "perfect", 5)
        told, why = or_none(
            lambda: mean(_each(scene.afters(other, "F", "perfect", 5), session_share))
        )
        return Measured(
            ours=min(_each(ours, session_share)), other=told, unit="", note=why
        )

    return measure


def must_survive(kind: Kind, way: str) -> Callable[[Workshop], Measured]:
    """The share of goal, constraints or open todos after ten rounds."""

    def measure(workshop: Workshop) -> Measured:
        scene = scene_of(workshop)
        theirs = "down" if way == "embedded" else way
        judge = share_of(kind)
        ours = [scene.afters("ours", letter, way, 10) for letter in "FD"]
        told, why = or_none(
            lambda: mean(_each(scene.afters("hermes", "F", theirs, 10), judge))
        )
        least = min(min(_each(afters, judge)) for afters in ours)
        return Measured(ours=least, other=told, unit="", note=why)

    return measure


def stale_facts(letter: str) -> Callable[[Workshop], Measured]:
    """Superseded values and closed todos that a summary shows as live, all rounds."""

    def measure(workshop: Workshop) -> Measured:
        scene = scene_of(workshop)
        shown = [
            line
            for seed in scene.seeds
            for after in scene.after("ours", letter, "embedded", seed)
            for line in stale_lines(
                after.summary, scene.made(letter, seed).facts, until=after.tail_start
            )
        ]
        note = f"such as: {shown[0][:80]}" if shown else ""
        return Measured(ours=len(shown), other=None, unit="", note=note)

    return measure


_PROMPT = "what {} sends its summariser for the whole of F"
ROWS = (
    *(
        Row(
            name=f"facts_into_prompt/{other}",
            target="0.95",
            measure=facts_into_prompt(other),
            against=_PROMPT.format(name),
            rule=Rule.VALUE_FROM,
        )
        for other, name in (("hermes", "Hermes"), ("tutorial", "the tutorial preset"))
    ),
    Row(
        name="prompt_chars",
        target="1.5",
        measure=prompt_chars,
        against=_PROMPT.format("Hermes"),
    ),
    *(
        Row(
            name=f"facts_no_llm/{letter}{number}",
            target=target,
            measure=facts_no_llm(letter, number),
            against="Hermes' static fallback, its model down",
            rule=Rule.VALUE_FROM,
        )
        for letter in "FD"
        for number, target in ((1, "0.60"), (3, "0.55"), (5, "0.50"))
    ),
    *(
        Row(
            name=f"budget_kept/{letter}",
            target="1",
            measure=budget_kept(letter),
            against="the budget of the fullest summary of ten rounds",
        )
        for letter in "FD"
    ),
    *(
        Row(
            name=f"facts_rounds/{other}",
            target="0.90",
            measure=facts_rounds(other),
            against=f"{name} with the same perfect summariser",
            rule=Rule.VALUE_FROM,
        )
        for other, name in (("hermes", "Hermes"), ("tutorial", "the tutorial preset"))
    ),
    *(
        Row(
            name=f"must_survive/{kind.value}-{way}",
            target="1",
            measure=must_survive(kind, way),
            against=f"Hermes, its model {'down' if way == 'embedded' else way}",
            rule=Rule.VALUE_FROM,
        )
        for way in ("perfect", "embedded")
        for kind in MUST
    ),
    *(
        Row(
            name=f"stale_facts/{letter}",
            target="0",
            measure=stale_facts(letter),
            against="nothing",
            rule=Rule.VALUE_UP_TO,
        )
        for letter in "FD"
    ),
)
