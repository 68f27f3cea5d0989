"""Leases: how exactly one worker at a time works on a row, on any broker.

A row (a run, an import) is queued, then claimed by one conditional UPDATE that also
raises `attempt`. That number is the fencing token: every later write of a worker is
conditional on it, so a worker that lost its lease (it was killed, or slept too long)
can no longer change anything. Messages of the broker are only wake-ups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from compaction.models import ImportJob, Run, Turn

Leased = type[Run] | type[ImportJob] | type[Turn]
"""A model whose rows carry status, attempt, lease_until, queued_at and sent_at."""

QUEUED = "queued"
IN_PROGRESS = "in_progress"
FAILED = "failed"
GAVE_UP = "gave_up"

_LONGEST_WAIT = 60.0  # seconds between two wake-ups of a row that stays queued


class LeaseLost(Exception):
    """Another worker, a cancel or the sweeper took the row: stop, change nothing."""


class LeaseTerms(Protocol):
    """How long a lease lasts and how often a row is tried."""

    @property
    def lease_seconds(self) -> float:
        """Seconds without a renewal after which the row may be claimed anew."""

    @property
    def max_attempts(self) -> int:
        """Claims after which the sweeper gives up."""

    @property
    def resend_seconds(self) -> float:
        """Seconds after which a wake-up counts as lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right of one attempt to write to one row."""

    model: Leased
    pk: Any
    attempt: int
    seconds: float

    def renew(self, **columns: Any) -> None:
        """Push the end of the lease away and write columns, if it is still ours.

        Raises LeaseLost when it is not; a database error passes through, so that
        nobody takes a failed check for a good one (hermes#63129).
        """
        until = timezone.now() + timedelta(seconds=self.seconds)
        if not self._ours().update(lease_until=until, **columns):
            raise LeaseLost(str(self.pk))

    def finish(self, **columns: Any) -> None:
        """Write the last columns, `status` among them; raises LeaseLost."""
        if not self._ours().update(lease_until=None, **columns):
            raise LeaseLost(str(self.pk))

    def _ours(self) -> QuerySet[Any]:
        return _rows(self.model).filter(
            pk=self.pk, attempt=self.attempt, status=IN_PROGRESS
        )


def claim(
    model: Leased, pk: Any, *, terms: LeaseTerms, worker: dict[str, Any] | None = None
) -> Lease | None:
    """Take a row that is queued or whose lease ran out; None when there is no such.

    One conditional UPDATE decides; `worker` are further columns to write with it.
    Two workers that read the same attempt cannot both raise it.
    """
    now = timezone.now()
    free = claimable(model, now).filter(pk=pk, attempt__lt=terms.max_attempts)
    attempt = free.values_list("attempt", flat=True).first()
    if attempt is None:
        return None
    taken = free.filter(attempt=attempt).update(
        status=IN_PROGRESS,
        attempt=attempt + 1,
        lease_until=now + timedelta(seconds=terms.lease_seconds),
        **(worker or {}),
    )
    if not taken:
        return None
    return Lease(model=model, pk=pk, attempt=attempt + 1, seconds=terms.lease_seconds)


def claimable(model: Leased, now: datetime) -> QuerySet[Any]:
    """Rows that a worker may take at this moment."""
    return _rows(model).filter(
        Q(status=QUEUED) | Q(status=IN_PROGRESS, lease_until__lt=now)
    )


def take_due(model: Leased, *, terms: LeaseTerms) -> Sequence[Any]:
    """Return the keys of rows whose wake-up must be sent again, and note the sending.

    A row that stays queued because all workers are busy is woken less and less
    often, so that a backlog does not fill the broker.
    """
    now = timezone.now()
    rows = claimable(model, now).filter(attempt__lt=terms.max_attempts)
    due = [
        pk
        for pk, queued_at, sent_at in rows.values_list("pk", "queued_at", "sent_at")
        if _is_due(now, queued_at, sent_at or queued_at, terms.resend_seconds)
    ]
    _rows(model).filter(pk__in=due).update(sent_at=now)
    return due


def _is_due(
    now: datetime, queued_at: datetime, sent_at: datetime, resend_seconds: float
) -> bool:
    waited = (sent_at - queued_at).total_seconds()
    wait = max(resend_seconds, min(waited, _LONGEST_WAIT))
    return (now - sent_at).total_seconds() >= wait


def take_hopeless(model: Leased, *, terms: LeaseTerms) -> Sequence[Lease]:
    """Take over rows that were tried too often, to be finished as failed.

    The returned lease fences off whoever still believes to hold the row.
    """
    now = timezone.now()
    rows = claimable(model, now).filter(attempt__gte=terms.max_attempts)
    found = list(rows.values_list("pk", "attempt"))
    return [
        Lease(model=model, pk=pk, attempt=attempt + 1, seconds=terms.lease_seconds)
        for pk, attempt in found
        if rows.filter(pk=pk, attempt=attempt).update(
            attempt=F("attempt") + 1,
            status=IN_PROGRESS,
            lease_until=now + timedelta(seconds=terms.lease_seconds),
        )
    ]


def _rows(model: Leased) -> QuerySet[Any]:
    return model._default_manager.all()
