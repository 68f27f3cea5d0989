"""The Import page: what was imported lately, and which Hermes homes lie here."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from compaction import wiring
from compaction.models import ImportJob

RECENT = 50
"""How many imports the page shows; a folder of logs is often uploaded at once."""

_ACTIVE = (ImportJob.Status.QUEUED, ImportJob.Status.IN_PROGRESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A Hermes home on this machine; `size` in bytes, of its database."""

    path: Path
    size: int
    changed_at: datetime
    job: ImportJob | None

    @property
    def name(self) -> str:
        """Its folder, as people write it."""
        return str(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPage:
    """Recent imports, newest first, and whether any is on its way; `older` stay out."""

    jobs: Sequence[ImportJob]
    older: int = 0

    @property
    def is_busy(self) -> bool:
        """True while an import is queued or in progress."""
        return any(job.is_active for job in self.jobs)


def recent_imports() -> ImportPage:
    """Return the newest imports; at most two queries."""
    rows = ImportJob.objects.select_related("requested_by").order_by("-queued_at")
    jobs = tuple(rows[:RECENT])
    is_full = len(jobs) == RECENT
    return ImportPage(jobs=jobs, older=rows.count() - RECENT if is_full else 0)


def find_import(job_id: uuid.UUID) -> ImportJob | None:
    """Return an import, or None."""
    return ImportJob.objects.filter(pk=job_id).first()


def hermes_homes() -> tuple[Home, ...]:
    """Return the Hermes homes of this machine that can be read; nothing is opened.

    `job` is the newest import of each.
    """
    found = [home for path in wiring.hermes_homes() if (home := _look(path))]
    return tuple(found)


def _look(path: Path) -> Home | None:
    database = path / "state.db"
    try:
        facts = database.stat()
        changed = max(facts.st_mtime, _changed(path / "state.db-wal"))
    except OSError:
        return None
    jobs = ImportJob.objects.filter(path=str(database), is_upload=False)
    return Home(
        path=path,
        size=facts.st_size,
        changed_at=datetime.fromtimestamp(changed, tz=UTC),
        job=jobs.order_by("-queued_at").first(),
    )


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
