"""What a summary loses, as its row keeps it: engine values to JSON and back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction.engine.evidence.audit import LossAudit
from compaction.engine.evidence.items import EvidenceItem, EvidenceKind
from compaction.engine.evidence.wording import one_line
from compaction.engine.phases.summary import SummaryResult
from compaction.models import Conversation, Summary
from compaction.store.texts import storable

_TEXT_CHARS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A lost item; `position` is that of its message in the session before, None for
    what an earlier summary told. `digest` names it for an operator's word on it.
    """

    kind: EvidenceKind
    text: str
    note: str
    position: int | None
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """The audit of one revision of a summary.

    `source` is the session whose messages it stands for; `scores` are (kind, told,
    all). `lost` counts all that is lost, `items` names the heaviest.
    """

    source: str
    scores: tuple[tuple[EvidenceKind, int, int], ...]
    items: tuple[Loss, ...]
    lost: int
    pinned: int
    appended: int
    asked_again: bool

    @property
    def all(self) -> int:
        """How many items were at stake."""
        return sum(score[2] for score in self.scores)


def audit_to_json(audit: LossAudit, source: str) -> dict[str, Any]:
    """Write an audit as a row keeps it; `source` is the session that was summarised."""
    return {
        "source": source,
        "scores": [[k.value, s.told, s.all] for k, s in audit.scores.items()],
        "items": [_item_to_json(item) for item in audit.losses],
        "lost": audit.lost,
    }


def losses_of_result(result: SummaryResult, source: str) -> dict[str, Any]:
    """Write what a result loses, and what was done about it; {} where none looked."""
    if result.audit is None:
        return {}
    return {
        **audit_to_json(result.audit, source),
        "pinned": result.pinned,
        "appended": result.appended,
        "asked_again": result.asked_again,
    }


def _item_to_json(item: EvidenceItem) -> dict[str, Any]:
    return {
        "kind": item.kind.value,
        "text": storable(one_line(item.text, _TEXT_CHARS)),
        "note": storable(one_line(item.note, _TEXT_CHARS)),
        "at": item.position if item.position >= 0 else None,
    }


def read_losses(summary: Summary) -> Losses | None:
    """Return the audit of a revision, None where nobody looked."""
    raw = summary.losses
    if not raw:
        return None
    return Losses(
        source=raw["source"],
        scores=tuple((EvidenceKind(k), told, all_) for k, told, all_ in raw["scores"]),
        items=tuple(_read_item(item) for item in raw["items"]),
        lost=raw["lost"],
        pinned=raw.get("pinned", 0),
        appended=raw.get("appended", 0),
        asked_again=raw.get("asked_again", False),
    )


def _read_item(raw: Mapping[str, Any]) -> Loss:
    return Loss(
        kind=EvidenceKind(raw["kind"]),
        text=raw["text"],
        note=raw["note"],
        position=raw["at"],
        digest=digest_of_loss(raw["kind"], raw["text"]),
    )


def digest_of_loss(kind: str, text: str) -> str:
    """Name an item by what it says, whichever message said it."""
    raw = f"{kind}\x00{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def dismissed_digests(conversation: Conversation) -> frozenset[str]:
    """Return what operators called not needed in a conversation."""
    rows = conversation.dismissed_evidence.values_list("digest", flat=True)
    return frozenset(rows)
