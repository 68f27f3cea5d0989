"""The newest answers of a costly question, up to a total weight; safe for threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """Keeps answers by a key that changes whenever the answer would.

    `weigh` says how much room an answer takes; the oldest leave when all together are
    heavier than `limit`. One answer alone is kept whatever it weighs.
    """

    def __init__(self, weigh: Callable[[T], int], *, limit: int) -> None:
        self._weigh = weigh
        self._limit = limit
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._weight = 0
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the answer kept under a key, or make and keep it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        answer = make()  # outside of the lock: two threads may both make it, once
        with self._lock:
            self._forget(key)
            self._kept[key] = answer
            self._weight += self._weigh(answer)
            while self._weight > self._limit and len(self._kept) > 1:
                self._forget(next(iter(self._kept)))
        return answer

    def _forget(self, key: Hashable) -> None:
        if key in self._kept:
            self._weight -= self._weigh(self._kept.pop(key))

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._weight = 0
