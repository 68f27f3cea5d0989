"""Imports done by a worker: rows with a lease, as runs are.

An upload waits in a folder of ours and is deleted when its import has ended, well or
badly. A file that lies on the machine is only ever read, and only where a Hermes home
was found: no address can make the console read another file.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import DatabaseError
from django.utils import timezone

from compaction import wiring
from compaction.models import ImportJob
from compaction.services.crash_points import AFTER_CLAIM, BEFORE_CLAIM, reach
from compaction.services.heartbeat import Pulse, keep_alive
from compaction.services.imports.files import ImportReport, import_file
from compaction.services.leases import Lease, LeaseLost, claim
from compaction.sources import SourceError, detect
from compaction.store import readable

logger = logging.getLogger(__name__)

Status = ImportJob.Status
_ACTIVE = (Status.QUEUED, Status.IN_PROGRESS)
_WRITE_EVERY = 0.5  # seconds between two writes of progress
INTERNAL = "internal"


class UploadRefused(Exception):
    """An upload that is not taken; `reason` is a code: empty, too_large."""

    def __init__(self, reason: str, *, limit: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.limit = limit  # bytes


def queue_upload(
    chunks: Iterable[bytes], *, label: str, operator: User | None
) -> ImportJob:
    """Keep an uploaded file and queue its import; raises UploadRefused.

    The file gets a name of ours: `label` is only shown.
    """
    job_id = uuid.uuid4()
    limits = wiring.upload_limits()
    limits.folder.mkdir(parents=True, exist_ok=True)
    path = limits.folder / job_id.hex
    try:
        size = _write(path, chunks, limit=limits.bytes)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return ImportJob.objects.create(
        id=job_id,
        label=_label(label),
        path=str(path),
        size=size,
        requested_by=operator,
        queued_at=timezone.now(),
        sent_at=timezone.now(),
    )


def _write(path: Path, chunks: Iterable[bytes], *, limit: int) -> int:
    size = 0
    with path.open("xb") as file:
        for chunk in chunks:
            size += len(chunk)
            if size > limit:
                raise UploadRefused("too_large", limit=limit)
            file.write(chunk)
    if not size:
        raise UploadRefused("empty")
    return size


def _label(label: str) -> str:
    name = readable(label).replace("\\", "/").rsplit("/", 1)[-1].strip()
    return name[:255] or "upload"


def queue_home(home: Path, *, operator: User | None) -> ImportJob | None:
    """Queue the import of a Hermes home that was found on this machine.

    None for any other folder. While one import of it is on its way, that one is
    returned: two presses are one import.
    """
    if home not in wiring.hermes_homes():
        return None
    path = home / "state.db"
    active = ImportJob.objects.filter(path=str(path), status__in=_ACTIVE).first()
    if active is not None:
        return active
    return ImportJob.objects.create(
        label=str(path)[-255:],
        path=str(path),
        is_upload=False,
        size=path.stat().st_size,
        requested_by=operator,
        queued_at=timezone.now(),
        sent_at=timezone.now(),
    )


def cancel_import(job_id: uuid.UUID) -> bool:
    """Stop an import; conversations that it brought in already stay."""
    active = ImportJob.objects.filter(pk=job_id, status__in=_ACTIVE)
    stopped = active.update(
        status=Status.CANCELLED, lease_until=None, finished_at=timezone.now()
    )
    if stopped:
        forget_upload(ImportJob.objects.get(pk=job_id))
    return bool(stopped)


def perform_import(job_id: uuid.UUID) -> None:
    """Do an import that is queued or was left behind; nothing for any other.

    A database error passes through: the row stays as it is, and the sweeper sends
    another worker once the lease ran out. What was imported until then is found
    unchanged by that one.
    """
    limits = wiring.lease_limits()
    reach(BEFORE_CLAIM)
    lease = claim(ImportJob, job_id, terms=limits)
    if lease is None:
        return
    reach(AFTER_CLAIM)
    job = ImportJob.objects.select_related("requested_by").get(pk=job_id)
    try:
        with keep_alive(lease, limit=limits.work_seconds) as pulse:
            ended = _import(job, _Progress(lease, pulse))
        lease.finish(finished_at=timezone.now(), **ended)
    except LeaseLost:
        logger.info("Import %s was taken over or cancelled.", job_id)
        return
    forget_upload(job)


def _import(job: ImportJob, progress: _Progress) -> dict[str, Any]:
    """Return the last columns of the job."""
    try:
        progress.begin(Path(job.path))
        report = import_file(
            Path(job.path),
            label=job.label,
            operator=job.requested_by,
            on_progress=progress.note,
        )
    except SourceError as error:
        return progress.columns() | _failed(error.reason, error.detail, error.line)
    except (LeaseLost, DatabaseError):
        raise
    except Exception as error:
        logger.exception("Import %s failed unexpectedly.", job.pk)
        return progress.columns() | _failed(INTERNAL, type(error).__name__)
    return _columns(report) | {"status": Status.COMPLETED}


def _failed(reason: str, detail: str, line: int | None = None) -> dict[str, Any]:
    return {
        "status": Status.FAILED,
        "reason": reason[:32],
        "error": readable(detail)[:2_000],
        "error_line": line,
    }


class _Progress:
    """Writes progress into the job's row, at most twice a second."""

    def __init__(self, lease: Lease, pulse: Pulse) -> None:
        self.lease = lease
        self.pulse = pulse
        self.report: ImportReport | None = None
        self._written = 0.0

    def begin(self, path: Path) -> None:
        """Say what is being read; raises SourceError when that is nothing known."""
        self.lease.renew(format=detect(path, limits=wiring.source_limits())[:32])

    def note(self, report: ImportReport) -> None:
        """Take in how far it is."""
        self.report = report
        self.pulse.check()
        now = time.monotonic()
        if now - self._written >= _WRITE_EVERY:
            self._written = now
            self.lease.renew(**_columns(report))

    def columns(self) -> dict[str, Any]:
        """Return the columns for what was done so far."""
        return _columns(self.report) if self.report else {}


def _columns(report: ImportReport) -> dict[str, Any]:
    return {
        "conversations_done": report.done,
        "conversations_new": report.new,
        "conversations_grown": report.grown + report.noted,
        "conversations_unchanged": report.unchanged,
        "messages_done": report.messages,
    }


def forget_upload(job: ImportJob) -> None:
    """Delete an upload; a file that is not in our folder is never touched."""
    path = Path(job.path)
    if job.is_upload and path.parent == wiring.upload_limits().folder:
        path.unlink(missing_ok=True)
