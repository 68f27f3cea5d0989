"""Token counts by content: a text that was counted once is not counted again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from compaction.engine.outline import digest_of
from compaction.engine.tokens import TokenCounter, TokenOrigin
from compaction.models import TokenCountCache

_BATCH = 500
_LEAST_CHARS = 256
"""Shorter texts are counted faster than they are looked up."""


class RememberedCounts:
    """A counter that looks long texts up first; `load` before, `save` after a batch.

    Equal to the counter it stands in for, in every number.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[str, int] = {}
        self._new: dict[str, int] = {}

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
        if len(text) < _LEAST_CHARS:
            return self._counter.count(text)
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._new[text] = self._counter.count(text)
        return known

    def load(self, texts: Iterable[str]) -> None:
        """Look up what is known of these texts, in few queries."""
        if self.origin is not TokenOrigin.TIKTOKEN:
            return
        wanted = {text for text in texts if self._is_unknown(text)}
        for batch in _batches(wanted):
            by_digest = {digest_of(text): text for text in batch}
            rows = TokenCountCache.objects.filter(
                encoding=self.name, digest__in=by_digest
            )
            for digest, tokens in rows.values_list("digest", "tokens"):
                self._known[by_digest[digest]] = tokens

    def _is_unknown(self, text: str) -> bool:
        return len(text) >= _LEAST_CHARS and text not in self._known

    def save(self) -> int:
        """Keep what was counted anew; return how many texts that were."""
        if self.origin is not TokenOrigin.TIKTOKEN:
            return 0
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


def _batches(texts: Iterable[str]) -> Iterator[Sequence[str]]:
    waiting = iter(texts)
    while batch := list(islice(waiting, _BATCH)):
        yield batch
