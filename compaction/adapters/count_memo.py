"""A bounded memory of token counts, by the content of the text."""

from __future__ import annotations

from collections.abc import Callable

Key = tuple[int, int]


class CountMemo:
    """Remembers the counts of the last texts, 1 to 2 × `size` of them.

    A key is the text's own hash and its length, so the memo keeps no text alive. Two
    generations stand in for a real LRU: what is used moves to the young one, and when
    that is full the old one goes. Every step is one dict operation, so threads need no
    lock and a fork can never find one taken.
    """

    def __init__(self, size: int = 50_000) -> None:
        self._size = size
        self._young: dict[Key, int] = {}
        self._old: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, text: str) -> int | None:
        """Return the count of a text seen before."""
        key = (hash(text), len(text))
        count = self._young.get(key)
        if count is None:
            count = self._old.get(key)
            if count is not None:
                self._keep(key, count)
        return count

    def put(self, text: str, count: int) -> int:
        """Remember a count and return it."""
        self._keep((hash(text), len(text)), count)
        return count

    def _keep(self, key: Key, count: int) -> None:
        young = self._young
        if len(young) >= self._size:
            self._old = young
            self._young = young = {}
        young[key] = count


class RecentCounts(dict[str, int]):
    """The texts in use at the moment with their counts: `recent[text]` always answers.

    A plain dict look-up is the fastest thing Python has; a whole plan asks for the same
    texts again and again. Holds `max_chars` characters of text at most, none longer
    than a sixteenth of that, and begins anew when full.
    """

    def __init__(self, count: Callable[[str], int], *, max_chars: int) -> None:
        super().__init__()
        self._count = count
        self._room = self._max_chars = max_chars

    def __missing__(self, text: str) -> int:
        """Count a text that is not held."""
        count = self._count(text)
        if len(text) <= self._max_chars // 16:
            self._hold(text, count)
        return count

    def _hold(self, text: str, count: int) -> None:
        self._room -= len(text)
        if self._room < 0:
            self.clear()
            self._room = self._max_chars - len(text)
        self[text] = count
