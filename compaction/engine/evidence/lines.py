"""One line of a summary, before it is decided whether there is room for it."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.engine.evidence.items import EvidenceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the summary; `must` ones come before all others."""

    path: str
    text: str
    weight: float
    kind: EvidenceKind
    must: bool = False
    key: str = ""  # said already when this stands in another line
    tells: int = 1  # how many things it tells
