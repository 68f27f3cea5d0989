"""What a turn shows while it goes on, written in batches in the order it happened.

Every write renews the lease, so the worker learns there that the turn was stopped or
taken over (LeaseLost).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from compaction.models import Turn, TurnChunk
from compaction.services.heartbeat import Pulse
from compaction.services.leases import Lease
from compaction.store import readable, storable

BATCH_SECONDS = 0.25
SHOWN_CHARS = 2_000
"""Of arguments and results this much is shown live; the messages hold all of it."""

Kind = TurnChunk.Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One thing to show, see models.TurnChunk."""

    kind: TurnChunk.Kind
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


class TurnStream:
    """The chunks of one attempt; numbers go on where the attempt before stopped."""

    def __init__(self, lease: Lease, pulse: Pulse) -> None:
        self.lease = lease
        self._pulse = pulse
        self._waiting: list[str] = []
        self._written_at = time.monotonic()
        last = TurnChunk.objects.filter(turn_id=lease.pk).aggregate(last=Max("number"))
        self._number = last["last"] or 0

    def text(self, piece: str) -> None:
        """Take a piece of an answer; write when a batch is due."""
        self._pulse.check()
        self._waiting.append(piece)
        if time.monotonic() - self._written_at >= BATCH_SECONDS:
            self.write()

    def write(self, *shown: Shown, **columns: Any) -> None:
        """Write what is waiting, then more, and columns of the turn; one transaction.

        Callers that are in a transaction of their own make all of it one.
        """
        with transaction.atomic():
            self.lease.renew(**columns)
            self._write(shown)
        self._written_at = time.monotonic()

    def check(self) -> None:
        """Raise LeaseLost when the turn was stopped or taken over."""
        self._pulse.check()
        self.lease.renew()

    def enter(self, step: Turn.Step, detail: str = "") -> None:
        """Say where the turn stands."""
        self.write(step=step, step_detail=readable(detail)[:128], wait_until=None)

    def _write(self, shown: tuple[Shown, ...]) -> None:
        if self._waiting:
            text, self._waiting = "".join(self._waiting), []
            shown = (Shown(kind=Kind.TEXT, text=text), *shown)
        for one in shown:
            self._number += 1
            TurnChunk.objects.create(
                turn_id=self.lease.pk,
                number=self._number,
                attempt=self.lease.attempt,
                kind=one.kind,
                text=readable(one.text),
                data=storable(dict(one.data)),
                at=timezone.now(),
            )
