"""Looking after rows whose worker died or whose wake-up was lost.

Called every few seconds; says whom to wake and gives up what was tried too often.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from compaction import wiring
from compaction.models import ImportJob, Run, Turn, WorkerSign
from compaction.services.imports.jobs import forget_upload
from compaction.services.leases import (
    GAVE_UP,
    Lease,
    LeaseLost,
    take_due,
    take_hopeless,
)
from compaction.services.purging import purge_streams
from compaction.services.runs.failures import Failure, fail_run
from compaction.services.turns.ends import give_up_turn

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Rows for which a wake-up must be sent."""

    runs: Sequence[UUID] = ()
    turns: Sequence[UUID] = ()
    imports: Sequence[UUID] = ()


def sweep() -> Due:
    """Give up hopeless rows, delete old streams; return whose wake-up must be sent."""
    _give_sign()
    purge_streams()
    limits = wiring.lease_limits()
    for lease in take_hopeless(Run, terms=limits):
        _give_up(lease)
    turn_limits = wiring.turn_limits()
    for lease in take_hopeless(Turn, terms=turn_limits):
        _give_up_turn(lease)
    for lease in take_hopeless(ImportJob, terms=limits):
        _give_up_import(lease)
    return Due(
        runs=take_due(Run, terms=limits),
        turns=take_due(Turn, terms=turn_limits),
        imports=take_due(ImportJob, terms=limits),
    )


def _give_sign() -> None:
    """Note that a worker is there; the Overview shows when it was last heard of."""
    worker = f"{socket.gethostname()}:{os.getpid()}"[:128]
    seen = {"at": timezone.now(), "worker": worker}
    WorkerSign.objects.update_or_create(pk=WorkerSign.ONLY, defaults=seen)


def _give_up(lease: Lease) -> None:
    logger.error("Run %s was tried %d times and given up.", lease.pk, lease.attempt - 1)
    try:
        fail_run(lease, Failure(reason=GAVE_UP))
    except LeaseLost:
        logger.info("Run %s was finished by somebody else.", lease.pk)


def _give_up_turn(lease: Lease) -> None:
    logger.error("Turn %s was given up after %d tries.", lease.pk, lease.attempt - 1)
    try:
        give_up_turn(lease, reason=GAVE_UP)
    except LeaseLost:
        logger.info("Turn %s was finished by somebody else.", lease.pk)


def _give_up_import(lease: Lease) -> None:
    logger.error("Import %s was given up after %d tries.", lease.pk, lease.attempt - 1)
    lease.finish(
        status=ImportJob.Status.FAILED, reason=GAVE_UP, finished_at=timezone.now()
    )
    forget_upload(ImportJob.objects.get(pk=lease.pk))
