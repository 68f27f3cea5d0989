"""Finding statements about the same thing by the words that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from compaction.engine.evidence.wording import content_words, words

_GENERIC = words(
    "work task file code test page change fix add update thing part step run project "
    "function module class line issue bug problem error message user data"
)
"""Words that two statements share by chance."""

_MOST_ALIKE = 64  # statements that are compared: those that share rare words first
_FEW = 2  # a word that both sides share stands in two statements at least

_LENIENCE = 1.2  # the value that one of them changes is rare itself


def telling_words(text: str) -> frozenset[str]:
    """Return the words that tell what a statement is about."""
    return content_words(text) - _GENERIC


def _name_others(left: frozenset[str], right: frozenset[str]) -> bool:
    """True for Chinese statements with Latin names, and none of them in both.

    Pairs of characters are shared soon; the names tell what a sentence is about.
    """
    names, others = _latin(left), _latin(right)
    are_chinese = len(names) < len(left) and len(others) < len(right)
    return are_chinese and bool(names and others) and not names & others


def _latin(found: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in found if word.isascii())


class Likeness:
    """Finds the statements that share words with another; rare words count for more.

    `rotate the A certificate` and `rotate the B certificate` share most words where
    there are many such todos, and yet not the one that tells them apart. `common` says
    in how many messages a word stands.
    """

    def __init__(self, common: Mapping[str, int] | None = None) -> None:
        self._common = common or Counter()
        self._by_word: dict[str, list[int]] = {}
        self._words: dict[int, frozenset[str]] = {}
        self._rarities: dict[int, float] = {}

    def add(self, number: int, text: str) -> None:
        """Remember a statement by its number."""
        found = telling_words(text)
        self._words[number] = found
        self._rarities[number] = self._rarity(found)
        for word in found:
            self._by_word.setdefault(word, []).append(number)

    def alike(self, text: str, *, least: float, shared: int) -> list[int]:
        """Return the numbers of statements that share enough words.

        `least` is a share of the smaller of the two sets, `shared` a number of words.
        """
        asked = telling_words(text)
        near: dict[int, None] = {}
        for word in sorted(asked, key=lambda word: (self._common.get(word, 0), word)):
            for number in reversed(self._by_word.get(word, ())[-_MOST_ALIKE:]):
                near[number] = None
            if len(near) >= _MOST_ALIKE:
                break
        rarity = self._rarity(asked)
        return [
            number
            for number in near
            if self._shares(number, (asked, rarity), least=least, shared=shared)
        ]

    def same_names(self, text: str, *, least: float, shared: int) -> list[int]:
        """Return those of them that do not name other things than the text does."""
        asked = telling_words(text)
        return [
            number
            for number in self.alike(text, least=least, shared=shared)
            if not _name_others(self._words[number], asked)
        ]

    def lacks(self, text: str, number: int) -> int:
        """Return how many rare words of a known statement a text does not have."""
        missing = self._words[number] - telling_words(text)
        return sum(self._common.get(word, 0) <= _FEW for word in missing)

    def _shares(
        self,
        number: int,
        asked: tuple[frozenset[str], float],
        *,
        least: float,
        shared: int,
    ) -> bool:
        """True when enough words are shared, by number and by how rare they are.

        The number is looked at first: it costs little and settles most.
        """
        known, (told, rarity) = self._words[number], asked
        both = known & told
        smaller = min(len(known), len(told))
        if len(both) < shared or not smaller or len(both) / smaller < least:
            return False
        lower = min(self._rarities[number], rarity)
        return _LENIENCE * self._rarity(both) / lower >= least

    def _rarity(self, found: frozenset[str]) -> float:
        common = self._common
        return sum([1 / max(_FEW, common.get(word, 0)) for word in found])
