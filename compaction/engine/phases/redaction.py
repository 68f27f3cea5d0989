"""Masking secrets: before the prompt, in the prompt, and after the summary.

Transcripts hold keys, passwords and cookies; a summary must not carry them on
(hermes#13228). What is masked is judged by shape, by place and by name; ports, hashes,
ids and code stay as they are (hermes#41339). The stored transcript is never touched.

Time is linear for any text: each pass looks a bounded way around each character, and
nothing is searched twice (the real Hermes needs 31 s for 2,000 hostile characters).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from compaction.engine.phases.secret_headers import mask_by_place
from compaction.engine.phases.secret_names import mask_named_values
from compaction.engine.phases.secret_shapes import mask_known_shapes, mask_private_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """A text without its secrets, and how many of each kind were masked."""

    text: str
    kinds: Mapping[str, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many secrets were masked."""
        return sum(self.kinds.values())


_PASSES = (mask_private_keys, mask_by_place, mask_known_shapes, mask_named_values)
_MOST_ROUNDS = 5


def redact(text: str) -> str:
    """Return the text with its secrets masked; doing it twice changes nothing."""
    return redact_with_report(text).text


def redact_with_report(text: str) -> Redaction:
    """Mask the secrets of a text and say what was found.

    A mask can lay open what a longer value had swallowed, so a text that held secrets
    is searched again until nothing more is found.
    """
    kinds: Counter[str] = Counter()

    def tally(kind: str) -> None:
        kinds[kind] += 1

    for _ in range(_MOST_ROUNDS):
        before = text
        for mask in _PASSES:
            text = mask(text, tally)
        if text == before:
            break
    return Redaction(text=text, kinds=dict(kinds))
