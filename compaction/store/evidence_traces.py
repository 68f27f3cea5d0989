"""The lives of a lineage's evidence as one stored value, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from compaction.engine.evidence.chain import Spot
from compaction.engine.evidence.items import EvidenceItem, EvidenceKind, EvidenceStatus
from compaction.engine.evidence.survival import Fate, Life
from compaction.models import EvidenceTrace, Session
from compaction.store.texts import storable


def save_trace(
    session: Session,
    lives: Iterable[Life],
    *,
    chain: Sequence[Session],
    mark: str,
    at: datetime,
) -> None:
    """Keep the lives found along a chain in place of what was found before."""
    EvidenceTrace.objects.update_or_create(
        session=session,
        defaults={
            "mark": mark,
            "chain": [row.pk for row in chain],
            "lives": storable([_write(life) for life in lives]),
            "made_at": at,
        },
    )


def read_lives(trace: EvidenceTrace) -> tuple[Life, ...]:
    """Read what `save_trace` wrote."""
    return tuple(_read(row) for row in trace.lives)


def _write(life: Life) -> list[Any]:
    item = life.item
    return [
        [item.kind.value, item.text, item.key, item.note, item.status.value],
        [item.position, item.since, item.ended_at, item.weight],
        [fate.value for fate in life.fates],
        list(life.places),
        _write_spot(life.introduced),
        _write_spot(life.ended),
        life.successor,
    ]


def _write_spot(spot: Spot | None) -> list[int] | None:
    return None if spot is None else [spot.generation, spot.position]


def _read(row: Sequence[Any]) -> Life:
    (kind, text, key, note, status), (position, since, ended_at, weight) = row[:2]
    item = EvidenceItem(
        kind=EvidenceKind(kind),
        text=text,
        key=key,
        note=note,
        status=EvidenceStatus(status),
        position=position,
        since=since,
        ended_at=ended_at,
        weight=weight,
    )
    return Life(
        item=item,
        fates=tuple(Fate(fate) for fate in row[2]),
        places=tuple(row[3]),
        introduced=_read_spot(row[4]),
        ended=_read_spot(row[5]),
        successor=row[6],
    )


def _read_spot(row: Sequence[int] | None) -> Spot | None:
    return None if row is None else Spot(generation=row[0], position=row[1])
