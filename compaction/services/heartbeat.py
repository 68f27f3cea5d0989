"""A pulse that keeps a lease alive while its worker waits for something slow."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connections

from compaction.services.leases import Lease, LeaseLost

logger = logging.getLogger(__name__)


class Pulse:
    """Says whether the lease is still ours, as far as the last beat knows."""

    def __init__(self) -> None:
        self._lost = threading.Event()
        self._over = threading.Event()

    def check(self) -> None:
        """Raise LeaseLost when somebody else took the row."""
        if self._lost.is_set():
            raise LeaseLost

    def stop(self) -> None:
        """Beat no more."""
        self._over.set()

    def beat(self, lease: Lease, *, every: float, beats: int) -> None:
        """Renew each `every` seconds, at most `beats` times, until stopped or lost."""
        try:
            for _ in range(beats):
                if self._over.wait(every):
                    return
                self._renew(lease)
        except LeaseLost:
            self._lost.set()
        finally:
            connections.close_all()  # those of this thread

    def _renew(self, lease: Lease) -> None:
        try:
            lease.renew()
        except DatabaseError:
            # Not knowing is not losing: the lease itself runs out if this goes on.
            logger.warning("The lease of %s could not be renewed.", lease.pk)


@contextmanager
def keep_alive(lease: Lease, *, limit: float) -> Iterator[Pulse]:
    """Renew a lease from a thread of its own for at most `limit` seconds.

    The limit ends a worker that hangs: its row becomes free for another.
    """
    pulse = Pulse()
    every = lease.seconds / 3
    thread = threading.Thread(
        target=pulse.beat,
        args=(lease,),
        kwargs={"every": every, "beats": max(1, int(limit / every))},
        name=f"lease-{lease.pk}",
        daemon=True,
    )
    thread.start()
    try:
        yield pulse
    finally:
        pulse.stop()
        thread.join()
