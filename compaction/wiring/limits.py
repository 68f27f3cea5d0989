"""How long and how much: leases, uploads, foreign files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from compaction.sources import SourceLimits
from compaction.wiring.summariser import summariser_endpoint

TURN_SECONDS = 6 * 3_600.0
"""How long one attempt at a turn may keep its lease alive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseLimits:
    """How long a worker may be silent, how often a row is tried; seconds.

    `work_seconds` is how long one attempt may keep its lease alive: what hangs for
    longer is given to another worker.
    """

    lease_seconds: float
    max_attempts: int
    resend_seconds: float
    work_seconds: float


def lease_limits() -> LeaseLimits:
    """Return the limits of runs and imports; a slow summariser has more time."""
    spec = summariser_endpoint()
    return _limits(max(1_800.0, 10 * spec.timeout if spec else 0.0))


def turn_limits() -> LeaseLimits:
    """Return the limits of turns, which wait for providers and may take hours."""
    return _limits(TURN_SECONDS)


def _limits(work_seconds: float) -> LeaseLimits:
    lease = float(settings.RUN_LEASE_SECONDS)
    return LeaseLimits(
        lease_seconds=lease,
        max_attempts=settings.RUN_MAX_ATTEMPTS,
        resend_seconds=min(5.0, lease),
        work_seconds=work_seconds,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadLimits:
    """Where uploaded files wait for a worker, and how large one may be in bytes."""

    folder: Path
    bytes: int


def upload_limits() -> UploadLimits:
    """Return the limits of uploads."""
    return UploadLimits(folder=settings.UPLOAD_DIR, bytes=settings.UPLOAD_BYTES)


def source_limits() -> SourceLimits:
    """Return how much of a foreign file is read before it is refused."""
    return SourceLimits()
