"""Writes the messages around a planted fact: who says it, and among what."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from bench.inputs import make_code, make_output, make_prose
from bench.quality import (
    phrasings_en as en,
    phrasings_tools as tools,
    phrasings_zh as zh,
)
from bench.quality.facts import Kind, Place
from bench.quality.values import fill, make_path

Dicts = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """A group of messages and the fact in it.

    `offset` is the message that says it, `is_ended` tells that it is over already;
    `ends` is the key of an earlier fact that this group ends, `successor` the value
    that replaces it.
    """

    messages: Dicts
    kind: Kind = Kind.GOAL
    place: Place = Place.USER
    text: str = ""
    key: str = ""
    offset: int = 0
    is_ended: bool = False
    ends: str = ""
    successor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """Something to be said some groups after another."""

    due: int
    speaker: Place
    phrase: str
    kind: Kind
    text: str
    ends: str
    successor: str


class Planter:
    """Makes groups; holds the dice, the calls' numbers and what is to be said later."""

    def __init__(self, dice: random.Random, chars: int) -> None:
        self.dice = dice
        self.chars = chars
        self.calls = 0
        self.later: list[Later] = []
        self.hot = [make_path(dice) for _ in range(25)]
        self.opposed = [
            *((en, pair) for pair in en.OPPOSED),
            *((zh, pair) for pair in zh.OPPOSED),
        ]

    def tongue(self) -> Any:
        """Choose the language of a group: every third is Chinese."""
        return zh if self.dice.random() < 0.33 else en

    def call(self, name: str, arguments: dict[str, Any] | str, said: str = "") -> Dicts:
        """Write a call without its result."""
        self.calls += 1
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": raw}
        made = {"id": f"call_{self.calls}", "type": "function", "function": function}
        return [{"role": "assistant", "content": said or None, "tool_calls": [made]}]

    def result(self, text: str) -> Dicts:
        """Write the result of the newest call."""
        call_id = f"call_{self.calls}"
        return [{"role": "tool", "tool_call_id": call_id, "content": text}]

    def output(self) -> str:
        """Make what a tool prints around a fact: mostly code, sometimes logs."""
        chars = int(self.chars * self.dice.uniform(0.1, 1.9))
        kind = self.dice.random()
        if kind < 0.08:
            return make_output(self.dice, min(chars, 1_500))
        return make_code(self.dice, chars)

    def looking(self, said: str = "") -> Dicts:
        """Read one of the files that are read again and again."""
        name, key = self.dice.choice(tools.READERS)
        called = self.call(name, {key: self.dice.choice(self.hot)}, said)
        return called + self.result(self.output())

    def around(self, phrase: str, tongue: Any, *, is_user: bool) -> str:
        """Put a sentence among others, as people and agents do."""
        if phrase.startswith("-"):
            return f"{fill(self.dice.choice(tongue.REMARKS), self.dice)}\n\n{phrase}"
        others = tongue.NEXT if is_user else tongue.REMARKS
        before, after = (fill(self.dice.choice(others), self.dice) for _ in range(2))
        shape = self.dice.random()
        if shape < 0.3:
            return phrase
        if shape < 0.6:
            return f"{phrase} {after}"
        if shape < 0.9:
            return f"{before} {phrase}"
        return f"{before}\n\n{make_prose(self.dice, 200)}.\n\n{phrase} {after}"

    def said(self, phrase: str, speaker: Place, tongue: Any) -> tuple[Dicts, int]:
        """Let a user or the agent say something; return the group and which message."""
        if speaker is Place.USER:
            text = self.around(phrase, tongue, is_user=True)
            return [{"role": "user", "content": text}, *self.looking()], 0
        text = self.around(phrase, tongue, is_user=False)
        if self.dice.random() < 0.6:
            return self.looking(text), 0
        return [*self.looking(), {"role": "assistant", "content": text}], 2

    def printed(self, text: str) -> str:
        """Put what a tool prints after, before or amid its other output."""
        others = self.output()
        cut = self.dice.choice(
            (0, len(others), others.rfind("\n", 0, len(others) // 2))
        )
        return f"{others[:cut]}\n{text}\n{others[cut:]}".strip("\n")

    def shell(self, command: str, said: str = "") -> Dicts:
        """Call a shell, whatever its name is here."""
        name, key = self.dice.choice(tools.SHELLS)
        return self.call(name, {key: command}, said)
