"""What a run shows while it works: its phase and the text as it streams in.

Text is written in batches, one short transaction for each, so that a fast model does
not keep the one writer of SQLite busy. Every batch also renews the lease, and the
worker learns there that it lost it.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from django.db import OperationalError, transaction
from django.utils import timezone

from compaction.models import Run, RunChunk
from compaction.services.heartbeat import Pulse
from compaction.services.leases import Lease
from compaction.store import readable

logger = logging.getLogger(__name__)

BATCH_SECONDS = 0.25


class Progress:
    """Writes the progress of one attempt; every write raises LeaseLost."""

    def __init__(self, lease: Lease, pulse: Pulse) -> None:
        self._lease = lease
        self._pulse = pulse
        self._waiting: list[str] = []
        self._seq = 0
        self._written_at = time.monotonic()
        self._started = {Run.Phase.PLANNING.value: _now()}

    def enter(self, phase: Run.Phase, **columns: Any) -> None:
        """Say that a phase begins, with what else is known now."""
        self._started[phase.value] = _now()
        self._lease.renew(phase=phase, phase_started=self._started, **columns)

    def on_chunk(self, text: str) -> None:
        """Take a piece of streamed text; write when a batch is due."""
        self._pulse.check()
        self._waiting.append(text)
        if time.monotonic() - self._written_at >= BATCH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting."""
        if not self._waiting:
            return
        self._written_at = time.monotonic()
        try:
            self._write("".join(self._waiting))
        except OperationalError:
            # A busy database delays what is shown and must not end the run.
            logger.warning("Streamed text of run %s waits.", self._lease.pk)
        else:
            self._waiting.clear()

    def _write(self, text: str) -> None:
        with transaction.atomic():
            self._lease.renew()
            RunChunk.objects.create(
                run_id=self._lease.pk,
                attempt=self._lease.attempt,
                seq=self._seq + 1,
                text=readable(text),
            )
        self._seq += 1


def _now() -> str:
    return timezone.now().isoformat()
