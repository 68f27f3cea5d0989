"""What a summary loses, for the pages of runs, summaries and sessions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from compaction.models import Session, Summary
from compaction.store import summary_in_force
from compaction.store.losses import Loss, Losses, dismissed_digests, read_losses

SHOWN = 12
"""Losses that stand open; the others are folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossPanel:
    """The audit of one revision, less what operators called not needed.

    `session` is where an answer goes: the one that the summary opens.
    """

    session: Session
    summary: Summary
    losses: Losses
    open: tuple[Loss, ...]
    folded: tuple[Loss, ...]
    dismissed: tuple[Loss, ...]

    @property
    def unnamed(self) -> int:
        """How many more are lost than are named."""
        return max(0, self.losses.lost - len(self.losses.items))

    @property
    def count(self) -> int:
        """How many losses nobody has answered."""
        return len(self.open) + len(self.folded) + self.unnamed

    @property
    def told(self) -> int:
        """How many of the items are still told."""
        return self.losses.all - self.losses.lost


def loss_panel(summary: Summary | None) -> LossPanel | None:
    """Return what a revision loses, None where nobody looked."""
    losses = read_losses(summary) if summary is not None else None
    if summary is None or losses is None:
        return None
    dismissed = dismissed_digests(summary.session.conversation)
    wanted = [loss for loss in losses.items if loss.digest not in dismissed]
    return LossPanel(
        session=summary.session,
        summary=summary,
        losses=losses,
        open=tuple(wanted[:SHOWN]),
        folded=tuple(islice(wanted, SHOWN, None)),
        dismissed=tuple(loss for loss in losses.items if loss.digest in dismissed),
    )


def count_losses(session: Session) -> int:
    """Return how many unanswered losses the summary in force has."""
    panel = loss_panel(summary_in_force(session))
    return panel.count if panel else 0
