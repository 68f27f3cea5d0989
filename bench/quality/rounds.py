"""A conversation that is compacted again and again, by ours and by the peer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peer import Peer
from bench.quality.conversation import FactsConversation
from bench.quality.needles import plain
from bench.quality.summarisers import SUMMARISER_WINDOW
from compaction.engine.compactor import compact, find_summary, plan, write_prompt
from compaction.engine.messages import Message, from_dict
from compaction.engine.phases.summary import Summariser
from compaction.engine.plan import Situation
from compaction.engine.policy import CompactionPolicy
from compaction.engine.tokens import TokenCounter

WINDOW = 200_000
"""Context length of the agent in tokens, on both sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """What there is after a compaction.

    `end` is how many messages were said until then, `stayed` which of them are still
    there as they were; `summary` is the text that stands for the others, `whole` all
    that the agent would be sent. `tokens` and `budget` are the summary's.
    """

    end: int
    stayed: frozenset[int]
    summary: str
    whole: str
    tokens: int
    budget: int

    def was_summarised(self, position: int) -> bool:
        """True for a message that the summary stands for."""
        return position < self.end and position not in self.stayed

    @property
    def tail_start(self) -> int:
        """Position of the first message of the tail, which no summary has read."""
        start = self.end
        while start - 1 in self.stayed:
            start -= 1
        return start


def compact_rounds(
    made: FactsConversation,
    rounds: int,
    policy: CompactionPolicy,
    summariser: Summariser,
    counter: TokenCounter,
) -> list[After]:
    """Compact after each round, on top of what the rounds before left."""
    messages: list[Message] = []
    places: list[int | None] = []
    told: list[After] = []
    for number, turns in enumerate(made.rounds[:rounds]):
        first = sum(map(len, made.rounds[:number]))
        messages += map(from_dict, turns)
        places += range(first, first + len(turns))
        situation = Situation(compactions=number, summariser_window=SUMMARISER_WINDOW)
        done = compact(messages, policy, summariser, counter, situation=situation)
        places = [None if o is None else places[o] for o in done.origins]
        messages = list(done.messages)
        told.append(_after(messages, places, first + len(turns), done.plan, counter))
    return told


def _after(
    messages: Sequence[Message],
    places: Sequence[int | None],
    end: int,
    made: Any,
    counter: TokenCounter,
) -> After:
    summary = find_summary(messages)
    return After(
        end=end,
        stayed=frozenset(place for place in places if place is not None),
        summary=summary,
        whole=plain("\n".join(map(_written, messages))),
        tokens=counter.count(summary),
        budget=made.summary_budget,
    )


def _written(message: Message) -> str:
    calls = " ".join(call.arguments for call in message.tool_calls)
    return f"{message.text}\n{calls}\n{message.carried_summary or ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a summariser is asked; `middle` are the messages it is to stand for."""

    prompt: str
    chars: int
    middle: frozenset[int]


def ask_once(
    made: FactsConversation, policy: CompactionPolicy, counter: TokenCounter
) -> Asked:
    """Write the prompt for the whole conversation; `chars` are of what was said."""
    messages = [from_dict(message) for message in made.messages]
    situation = Situation(summariser_window=SUMMARISER_WINDOW)
    planned = plan(messages, policy, counter, situation=situation)
    prompt = write_prompt(planned, messages)
    sent = "\n".join(prompt.user_text(part, "") for part in range(len(prompt.parts)))
    split = planned.split
    between = frozenset(range(split.head_end, split.tail_start)) - set(split.kept)
    return Asked(prompt=plain(sent), chars=len(sent), middle=between)


class HermesSide:
    """The peer over the same rounds; its answers are judged as ours are."""

    def __init__(self, peer: Peer, made: FactsConversation, folder: Path) -> None:
        self._peer = peer
        self._made = made
        self._file = folder / f"facts-{len(made.rounds)}.json"
        if not self._file.exists():
            needles = [fact.text for fact in made.facts]
            told = {"rounds": made.rounds, "needles": needles}
            self._file.write_text(json.dumps(told), encoding="utf-8")

    def compact_rounds(
        self, rounds: int, counter: TokenCounter, *, summariser: str
    ) -> list[After]:
        """Compact after each round, with a perfect summariser or without any."""
        answers = self._peer.ask(
            "retain",
            file=str(self._file),
            window=WINDOW,
            rounds=rounds,
            summariser=summariser,
        )
        return [self._read(answer, counter) for answer in answers]

    def _read(self, answer: dict[str, Any], counter: TokenCounter) -> After:
        return After(
            end=answer["end"],
            stayed=frozenset(answer["stayed"]),
            summary=answer["summary"],
            whole=plain(answer["whole"]),
            tokens=counter.count(answer["summary"]),
            budget=answer["budget"],
        )

    def ask_once(self) -> Asked:
        """Return what its summariser is asked for the whole conversation."""
        answer = self._peer.ask("prompt", file=str(self._file), window=WINDOW)
        return Asked(
            prompt=plain(answer["prompt"]),
            chars=len(answer["prompt"]),
            middle=frozenset(range(len(self._made.messages)))
            - frozenset(answer["stayed"]),
        )
