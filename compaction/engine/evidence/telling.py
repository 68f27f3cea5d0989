"""Whether a text tells a piece of evidence: word for word, or in other words.

A text is read once; then each question costs a look-up per word, and a search only
where every word is there.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from compaction.engine.evidence.items import EvidenceItem, EvidenceKind
from compaction.engine.evidence.wording import CJK, content_words, has_value
from compaction.engine.messages import Message, ToolCall

_UNIT = re.compile(rf"[{CJK}]|[^\W{CJK}]+")
_VALUES = re.compile(
    r"[\w.\[\]-]{1,120}=(?P<value>[^\n]{1,120}?)(?=, [\w.\[\]-]+=|…?\Z)"
)
_ALIKE = 0.7  # of the words of an item must stand in one line
_MOST_PLACES = 64  # places that are looked at before a match is taken for granted
_MOST_LINES = 64

PROSE = frozenset(
    {
        EvidenceKind.GOAL,
        EvidenceKind.REQUEST,
        EvidenceKind.CONSTRAINT,
        EvidenceKind.TODO,
        EvidenceKind.QUESTION,
        EvidenceKind.BLOCKER,
        EvidenceKind.DECISION,
        EvidenceKind.DONE,
        EvidenceKind.NEXT,
        EvidenceKind.STATE,
    }
)
"""Kinds that may be told in other words; the others are exact or not told."""


def plain(text: str) -> str:
    """Return a text in small letters on one line: what a comparison looks at."""
    return " ".join(text.casefold().split())


def needles(item: EvidenceItem) -> tuple[str, ...]:
    """Return what a text must hold, all of it, to tell an item word for word."""
    if item.kind is EvidenceKind.IDENTIFIER and item.key:
        return (plain(item.key),)
    if item.kind is EvidenceKind.FILE:
        return tuple(plain(path) for path in item.text.split(" -> "))
    if item.kind is EvidenceKind.VALUE:
        values = [match["value"] for match in _VALUES.finditer(item.text)]
        if values:
            return tuple(plain(value) for value in values)
    return (plain(item.text.removesuffix("…")),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retelling:
    """A line that says `share` of an item's words (0 to 1), namely `said`."""

    line: int
    share: float
    said: frozenset[str]


class Telling:
    """A text to be asked what it tells; `lines` are asked one by one for wording."""

    def __init__(self, text: str) -> None:
        self._raw = text
        self.text = plain(text)

    @cached_property
    def _units(self) -> frozenset[str]:
        return frozenset(_UNIT.findall(self.text))

    @cached_property
    def _lines_by_word(self) -> dict[str, list[int]]:
        index: dict[str, list[int]] = {}
        for number, line in enumerate(self._raw.splitlines()):
            for word in content_words(line):
                index.setdefault(word, []).append(number)
        return index

    def holds(self, item: EvidenceItem) -> bool:
        """True when an item stands here word for word."""
        return all(self.find(needle) is not None for needle in needles(item))

    def find(self, needle: str) -> int | None:
        """Return where a plain text stands as whole words; None: nowhere."""
        units = _UNIT.findall(needle)
        if not needle or not self._units.issuperset(units):
            return None
        place = self.text.find(needle)
        for _ in range(_MOST_PLACES):
            if place < 0:
                return None
            if self._is_whole(place, place + len(needle)):
                return place
            place = self.text.find(needle, place + 1)
        return place if place >= 0 else None

    def _is_whole(self, start: int, end: int) -> bool:
        """True when no word is cut at either end; Chinese has no ends of words."""
        text = self.text
        before, first = text[start - 1 : start], text[start]
        last, after = text[end - 1], text[end : end + 1]
        return not (_joins(before, first) or _joins(last, after))

    def rewords(self, item: EvidenceItem) -> bool:
        """True when one line says most of what an item says, with all its values."""
        return any(self.retellings(item))

    def retellings(self, item: EvidenceItem) -> Iterator[Retelling]:
        """Yield the lines that say most of what an item says, the closest first."""
        if item.kind not in PROSE:
            return
        asked = content_words(item.text)
        shared: Counter[int] = Counter()
        for word in asked:
            shared.update(self._lines_by_word.get(word, ())[:_MOST_LINES])
        least = max(2, _ALIKE * len(asked))
        exact = [word for word in asked if has_value(word)]
        for line, count in shared.most_common(_MOST_PLACES):
            if count >= least and self._has_all(exact, line):
                said = frozenset(word for word in asked if self._has(word, line))
                yield Retelling(line=line, share=count / len(asked), said=said)

    def _has_all(self, words: list[str], line: int) -> bool:
        return all(self._has(word, line) for word in words)

    def _has(self, word: str, line: int) -> bool:
        """True when a line has a word; its lines are in order, so no list is walked."""
        lines = self._lines_by_word.get(word, ())
        place = bisect_left(lines, line)
        return place < len(lines) and lines[place] == line


def _joins(left: str, right: str) -> bool:
    """True when two neighbouring characters are of one word."""
    return all(char and _WORD_CHAR.match(char) is not None for char in (left, right))


_WORD_CHAR = re.compile(rf"[^\W{CJK}]")


def words_of(message: Message) -> str:
    """Return all that a message tells: its text, and what its calls were given."""
    parts = [message.text, *(_words_of_call(call) for call in message.tool_calls)]
    return "\n".join(part for part in parts if part)


def _words_of_call(call: ToolCall) -> str:
    """Return the arguments of a call, and as text what JSON writes in escapes."""
    if "\\" not in call.arguments:
        return f"{call.name} {call.arguments}"
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return f"{call.name} {call.arguments}"
    return "\n".join([call.name, *_leaves(value)])


def _leaves(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Mapping):
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here
        elif here is not None:
            yield str(here)
