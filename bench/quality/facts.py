"""A planted fact, and how one is read out of a phrasing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_MARKED = re.compile("«(.*?)»", re.DOTALL)


class Kind(StrEnum):
    """What sort of thing must survive."""

    GOAL = "goal"
    CONSTRAINT = "constraint"
    TODO = "todo"
    DECISION = "decision"
    QUESTION = "question"
    FILE = "file"
    COMMAND = "command"
    ERROR = "error"
    IDENTIFIER = "identifier"
    ARGUMENT = "argument"


MUST = (Kind.GOAL, Kind.CONSTRAINT, Kind.TODO)
"""Kinds of which nothing may be lost."""


class Place(StrEnum):
    """Where a fact stands."""

    USER = "user"
    ASSISTANT = "assistant"
    ARGUMENTS = "arguments"
    RESULT = "result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A text that must survive word for word, and the message that says it.

    `position` counts messages over all rounds. A fact that no longer holds has
    `ended`, the position of the message that ended it, and `successor`, the value that
    took its place, or the sentence that closed it: from then on it need not survive
    and must not be shown as live without its successor.
    """

    kind: Kind
    text: str
    place: Place
    position: int
    ended: int | None = None
    successor: str = ""

    def holds(self, until: int) -> bool:
        """True when it was said, and not ended, before that position."""
        return self.position < until and not self.is_stale(until)

    def is_stale(self, until: int) -> bool:
        """True when it was ended before that position."""
        return self.ended is not None and self.ended < until


def read_marked(phrase: str) -> tuple[str, str]:
    """Part a phrase into what is written and the marked fact in it, '' if none."""
    found = _MARKED.search(phrase)
    return _MARKED.sub(r"\1", phrase), found[1] if found else ""
