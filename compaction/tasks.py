"""What workers do, and how they are woken.

The rows are the truth: a message that is lost is sent again by `sweep`, one that comes
twice finds nothing to do. A broker that cannot be reached delays work and loses none.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from celery import shared_task
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from kombu.exceptions import OperationalError

from compaction.models import Conversation, ImportJob, Session, Turn
from compaction.services import evidence_traces, sweeping
from compaction.services.imports import jobs
from compaction.services.runs import work as run_work
from compaction.services.runs.starting import QueuedRun, RunRequest, queue_run
from compaction.services.turns import work as turn_work
from compaction.services.turns.starting import TurnRequest, queue_turn

logger = logging.getLogger(__name__)


def start_run(session: Session, request: RunRequest) -> QueuedRun:
    """Queue a run and wake a worker once the row is committed."""
    queued = queue_run(session, request)
    if queued.created and queued.run is not None:
        wake(perform_run, queued.run.pk)
    return queued


def start_turn(conversation: Conversation, request: TurnRequest) -> Turn:
    """Store a message, queue its turn and wake a worker; raises TurnRefused."""
    turn = queue_turn(conversation, request)
    if turn.status == Turn.Status.QUEUED:
        wake(perform_turn, turn.pk)
    return turn


def start_upload(
    chunks: Iterable[bytes], *, label: str, operator: User | None
) -> ImportJob:
    """Keep an uploaded file and wake a worker for it; raises UploadRefused."""
    job = jobs.queue_upload(chunks, label=label, operator=operator)
    wake(perform_import, job.pk)
    return job


def start_home_import(home: Path, *, operator: User | None) -> ImportJob | None:
    """Queue the import of a Hermes home of this machine; None for another folder."""
    job = jobs.queue_home(home, operator=operator)
    if job is not None:
        wake(perform_import, job.pk)
    return job


def wake(task: Any, pk: UUID) -> None:
    """Send a wake-up on commit; without a broker the sweeper does it later."""
    transaction.on_commit(partial(_send, task, str(pk)))


def _send(task: Any, pk: str) -> None:
    try:
        task.apply_async(args=[pk], retry=False)
    except (OperationalError, OSError) as error:
        logger.warning("No worker could be woken for %s (%s); it waits.", pk, error)


def ask_for_trace(session: Session) -> None:
    """Wake a worker to follow the evidence of a lineage; at most once a minute.

    The page that waits asks again, so that a lost message costs a minute.
    """
    if cache.add(f"trace:{session.pk}:{session.revision}", 1, timeout=60):
        _send(trace_evidence, session.pk)


@shared_task(name="compaction.tasks.trace_evidence")
def trace_evidence(session_id: str) -> None:
    """Follow the evidence of a lineage; see services.evidence_traces."""
    evidence_traces.trace_lineage(session_id)


@shared_task(name="compaction.tasks.perform_run")
def perform_run(run_id: str) -> None:
    """Do one run; see services.runs.work."""
    run_work.perform_run(UUID(run_id))


@shared_task(name="compaction.tasks.perform_turn")
def perform_turn(turn_id: str) -> None:
    """Do one turn; see services.turns.work."""
    turn_work.perform_turn(UUID(turn_id))


@shared_task(name="compaction.tasks.perform_import")
def perform_import(job_id: str) -> None:
    """Do one import; see services.imports.jobs."""
    jobs.perform_import(UUID(job_id))


@shared_task(name="compaction.tasks.sweep")
def sweep() -> None:
    """Wake workers for rows that were left behind."""
    due = sweeping.sweep()
    for pk in due.runs:
        _send(perform_run, str(pk))
    for pk in due.turns:
        _send(perform_turn, str(pk))
    for pk in due.imports:
        _send(perform_import, str(pk))
