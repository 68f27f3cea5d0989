"""Which evidence a compaction loses: told neither by the summary nor by what stays.

Text is compared, not meaning: an item counts as told when it stands there word for
word, or when one line says most of its words with all of its values. A line that tells
another item better speaks of that one: `the production database` is not `the staging
database`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from compaction.engine.evidence.items import EvidenceItem, EvidenceKind
from compaction.engine.evidence.telling import Retelling, Telling

MUST = frozenset({EvidenceKind.CONSTRAINT, EvidenceKind.TODO})
"""Kinds whose loss a policy answers: what the user ruled, and what is left to do."""

MOST_LOSSES = 200
"""Losses that are named, the heaviest; the others are counted."""

_NOT_AUDITED = frozenset({EvidenceKind.TOOL, EvidenceKind.STATE, EvidenceKind.NEXT})


@dataclass(frozen=True, slots=True, kw_only=True)
class KindScore:
    """How many items of a kind there were, and how many of them are still told."""

    told: int
    all: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LossAudit:
    """What became of the evidence of a compaction.

    `losses` are the heaviest lost items, their positions those of the messages before;
    `lost` counts all of them. `scores` are by kind.
    """

    scores: Mapping[EvidenceKind, KindScore] = field(default_factory=dict)
    losses: tuple[EvidenceItem, ...] = ()
    lost: int = 0

    @property
    def score(self) -> float:
        """Share of the items that are still told, 0 to 1; 1 when there were none."""
        every = sum(score.all for score in self.scores.values())
        return 1 - self.lost / every if every else 1.0

    @property
    def must_haves(self) -> tuple[EvidenceItem, ...]:
        """The losses that a policy answers."""
        return tuple(item for item in self.losses if item.kind in MUST)


def audit(items: Iterable[EvidenceItem], told: Telling) -> LossAudit:
    """Judge items against all that an agent is still told, in linear time."""
    live = [i for i in items if i.is_live and i.kind not in _NOT_AUDITED]
    audited = _once_each(live, told)
    retold = _retold(audited, told)
    lost = [
        item
        for number, item in enumerate(audited)
        if number not in retold and not told.holds(item)
    ]
    ranked = sorted(lost, key=lambda item: (item.kind not in MUST, -item.weight))
    return LossAudit(
        scores=_scores(audited, lost),
        losses=tuple(ranked[:MOST_LOSSES]),
        lost=len(lost),
    )


def _once_each(items: Iterable[EvidenceItem], told: Telling) -> list[EvidenceItem]:
    """Keep one item of each line that holds several values, a lost one if any is."""
    lines: dict[tuple[EvidenceKind, str], EvidenceItem] = {}
    for item in items:
        known = lines.setdefault((item.kind, item.text), item)
        if known is not item and told.holds(known):
            lines[item.kind, item.text] = item
    return list(lines.values())


def _retold(audited: Sequence[EvidenceItem], told: Telling) -> frozenset[int]:
    """Return which items are told in other words, by a line that is about them."""
    lines = [list(told.retellings(item)) for item in audited]
    best: dict[tuple[EvidenceKind, int], Retelling] = {}
    for item, retellings in zip(audited, lines, strict=True):
        for here in retellings:
            known = best.get((item.kind, here.line))
            if known is None or here.share > known.share:
                best[item.kind, here.line] = here
    return frozenset(
        number
        for number, retellings in enumerate(lines)
        if any(
            not _is_of_another(here, best[audited[number].kind, here.line])
            for here in retellings
        )
    )


def _is_of_another(here: Retelling, best: Retelling) -> bool:
    """True when a better told item explains every word that speaks for this one."""
    return here.share < best.share and here.said <= best.said


def _scores(
    audited: Sequence[EvidenceItem], lost: Sequence[EvidenceItem]
) -> dict[EvidenceKind, KindScore]:
    every = Counter(item.kind for item in audited)
    missing = Counter(item.kind for item in lost)
    return {
        kind: KindScore(told=count - missing[kind], all=count)
        for kind, count in every.items()
    }
