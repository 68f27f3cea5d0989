"""Evidence as a list for a model: what the transcript does not say word for word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compaction.engine.evidence.items import EvidenceItem, EvidenceKind
from compaction.engine.evidence.telling import Telling
from compaction.engine.evidence.wording import one_line

LINE_CHARS = 400

_UNLISTED = frozenset({EvidenceKind.TOOL, EvidenceKind.STATE, EvidenceKind.NEXT})
"""What the end of the transcript says better."""


def untold(items: Iterable[EvidenceItem], told: Telling) -> Iterator[EvidenceItem]:
    """Yield what still holds and does not stand in a text word for word."""
    for item in items:
        if item.is_live and item.kind not in _UNLISTED and not told.holds(item):
            yield item


def list_evidence(
    items: Iterable[EvidenceItem], *, chars: int
) -> tuple[EvidenceItem, ...]:
    """Return the heaviest items whose lines fit into `chars`, in their order."""
    ranked = sorted(items, key=lambda item: -item.weight)
    chosen: list[EvidenceItem] = []
    for item in ranked:
        chars -= len(line_of(item)) + 1
        if chars < 0:
            break
        chosen.append(item)
    return tuple(sorted(chosen, key=lambda item: item.position))


def line_of(item: EvidenceItem) -> str:
    """Write one item as a line: its kind, its words, what was done with it."""
    note = f" - {one_line(item.note, 120)}" if item.note else ""
    return f"{item.kind.value}: {one_line(item.text, LINE_CHARS)}{note}"


def write_list(items: Sequence[EvidenceItem]) -> str:
    """Write items one below the other."""
    return "\n".join(dict.fromkeys(line_of(item) for item in items))
