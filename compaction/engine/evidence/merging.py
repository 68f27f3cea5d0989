"""Items that say the same, as one."""

from __future__ import annotations

from collections.abc import Iterable

from compaction.engine.evidence.extract_files import add_notes
from compaction.engine.evidence.items import EvidenceItem, EvidenceKind

_TEXTS = frozenset({EvidenceKind.CONSTRAINT, EvidenceKind.DECISION, EvidenceKind.DONE})
"""Kinds whose key is a subject that many of them may have."""


def unique(items: Iterable[EvidenceItem]) -> list[EvidenceItem]:
    """Keep one of the items that say the same: the newest todo, the heaviest rest."""
    kept: dict[tuple[EvidenceKind, str], EvidenceItem] = {}
    for item in items:
        name = (item.kind, _identity(item))
        known = kept.get(name)
        kept[name] = item if known is None else _merge(known, item)
    return list(kept.values())


def _identity(item: EvidenceItem) -> str:
    if item.kind in _TEXTS or not item.key:
        return item.text
    return item.key


def _merge(known: EvidenceItem, item: EvidenceItem) -> EvidenceItem:
    newest = item if item.position >= known.position else known
    since = min(known.first_position, item.first_position)
    if item.kind is EvidenceKind.TODO:
        return newest.evolve(since=since)
    if item.kind is EvidenceKind.FILE:
        return newest.evolve(
            note=add_notes(known.note, item.note),
            weight=max(known.weight, item.weight),
            since=since,
        )
    heavier = item if item.weight > known.weight else known
    return heavier.evolve(
        position=newest.position,
        status=newest.status,
        since=since,
        ended_at=newest.ended_at,
    )
