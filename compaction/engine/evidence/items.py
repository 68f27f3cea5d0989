"""One piece of evidence: something an agent needs to know after a compaction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class EvidenceKind(StrEnum):
    """What a piece of evidence is."""

    GOAL = "goal"
    REQUEST = "request"  # what the user asked for on the way
    CONSTRAINT = "constraint"  # only ever from the text of a user
    TODO = "todo"
    QUESTION = "question"  # asked of the user
    BLOCKER = "blocker"
    DECISION = "decision"
    DONE = "done"
    STATE = "state"  # what was being done at the end
    NEXT = "next"  # what was announced as next
    FILE = "file"
    COMMAND = "command"
    ERROR = "error"
    IDENTIFIER = "identifier"
    VALUE = "value"  # deep in the arguments of a tool
    TOOL = "tool"


class EvidenceStatus(StrEnum):
    """Whether a piece of evidence still holds."""

    LIVE = "live"
    SUPERSEDED = "superseded"  # a newer value took its place, or it was called off
    RESOLVED = "resolved"  # done, answered, fixed


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceItem:
    """A piece of evidence, word for word where the words matter.

    `position` is the message it comes from (0-based in the list that was read, -1 for
    what a previous summary carried). `weight` orders what is kept when there is no room
    for all. Two items of a kind with the same `key` are about the same thing. `note`
    says what was done with it (a file's actions, a command's end, an answer). `since`
    is the message that told it first (None: the same), `ended_at` the one that
    superseded or resolved it (None: unknown, or it is live).
    """

    kind: EvidenceKind
    text: str
    position: int = -1
    weight: float = 1.0
    status: EvidenceStatus = EvidenceStatus.LIVE
    key: str = ""
    note: str = ""
    generation: int = 0
    since: int | None = None
    ended_at: int | None = None

    @property
    def is_live(self) -> bool:
        """True while it holds."""
        return self.status is EvidenceStatus.LIVE

    @property
    def first_position(self) -> int:
        """Position of the message that told it first, -1 for an earlier summary."""
        return self.position if self.since is None else self.since

    def evolve(self, **changes: Any) -> EvidenceItem:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


WEIGHTS: dict[EvidenceKind, float] = {
    EvidenceKind.GOAL: 100,
    EvidenceKind.CONSTRAINT: 90,
    EvidenceKind.TODO: 85,
    EvidenceKind.REQUEST: 72,
    EvidenceKind.BLOCKER: 80,
    EvidenceKind.STATE: 78,
    EvidenceKind.NEXT: 60,
    EvidenceKind.QUESTION: 58,
    EvidenceKind.DECISION: 70,
    EvidenceKind.ERROR: 62,
    EvidenceKind.FILE: 60,
    EvidenceKind.IDENTIFIER: 52,
    EvidenceKind.VALUE: 48,
    EvidenceKind.DONE: 45,
    EvidenceKind.COMMAND: 40,
    EvidenceKind.TOOL: 12,
}
"""What a piece of a kind weighs before anything else is known about it."""
