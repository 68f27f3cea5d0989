"""Token counts by content, for many texts: looked up, counted ahead, remembered.

Counting is most of the work of an import and is done outside Python's lock, so the
next batch is counted in a thread while the rows of this one are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice

from compaction.engine.outline import digest_of
from compaction.engine.tokens import TokenCounter, TokenOrigin
from compaction.models import TokenCountCache

_BATCH = 500
_REMEMBERED_CHARS = 4_000
"""Shorter texts are counted about as fast as they are looked up and remembered."""


class BatchCounts:
    """A counter that knows the texts of a batch before it is asked for them.

    Equal to the counter it stands in for, in every number. `save` after a batch, so
    that long texts need not be counted again.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: Mapping[str, int] = {}
        self._new: dict[str, int] = {}
        self._remembers = counter.origin is TokenOrigin.TIKTOKEN

    @property
    def origin(self) -> TokenOrigin:
        """Who counted."""
        return self._counter.origin

    @property
    def name(self) -> str:
        """Name of the encoding."""
        return self._counter.name

    @property
    def overhead(self) -> int:
        """Tokens that a message costs beside its text."""
        return self._counter.overhead

    def count(self, text: str) -> int:
        """Return the number of tokens of one text."""
        known = self._known.get(text)
        return self._counter.count(text) if known is None else known

    def run(self, batches: Iterable[Sequence[str]]) -> Iterator[None]:
        """Step through batches of texts; after each step its counts are known."""
        with _one_thread() as pool:
            waiting = iter(batches)
            coming = self._begin(pool, next(waiting, None))
            while coming is not None:
                self._known = coming.result()
                coming = self._begin(pool, next(waiting, None))
                yield
        self._known = {}

    def _begin(
        self, pool: ThreadPoolExecutor, texts: Sequence[str] | None
    ) -> Future[dict[str, int]] | None:
        if texts is None:
            return None
        return pool.submit(self._count_all, texts, self._look_up(texts))

    def _count_all(
        self, texts: Sequence[str], known: Mapping[str, int]
    ) -> dict[str, int]:
        counts = dict(known)
        for text in texts:
            if text not in counts:
                counts[text] = self._counter.count(text)
                if self._remembers and len(text) >= _REMEMBERED_CHARS:
                    self._new[text] = counts[text]
        return counts

    def _look_up(self, texts: Iterable[str]) -> dict[str, int]:
        if not self._remembers:
            return {}
        found: dict[str, int] = {}
        for batch in _batches({t for t in texts if len(t) >= _REMEMBERED_CHARS}):
            by_digest = {digest_of(text): text for text in batch}
            rows = TokenCountCache.objects.filter(
                encoding=self.name, digest__in=by_digest
            )
            for digest, tokens in rows.values_list("digest", "tokens"):
                found[by_digest[digest]] = tokens
        return found

    def save(self) -> int:
        """Keep what was counted anew; return how many texts that were."""
        new, self._new = self._new, {}
        for batch in _batches(new):
            TokenCountCache.objects.bulk_create(
                [
                    TokenCountCache(
                        encoding=self.name, digest=digest_of(text), tokens=new[text]
                    )
                    for text in batch
                ],
                ignore_conflicts=True,
            )
        return len(new)


@contextmanager
def _one_thread() -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="count")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _batches(texts: Iterable[str]) -> Iterator[Sequence[str]]:
    waiting = iter(texts)
    while batch := list(islice(waiting, _BATCH)):
        yield batch
