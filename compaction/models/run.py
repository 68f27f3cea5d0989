"""A run: one attempt to compact a session; a row with a lease."""

from __future__ import annotations

import uuid

from django.contrib.auth import get_user_model
from django.db import models
from django.db.models import Q

from compaction.models.session import Session


class Run(models.Model):
    """One attempt to compact; the row is the truth, Celery messages are wake-ups.

    A worker claims a run by a conditional UPDATE and renews `lease_until` while it
    works; `attempt` is the fencing token: only the newest claim may finish the run.
    """

    class Status(models.TextChoices):
        """Names of the Agent Client Protocol."""

        QUEUED = "queued"
        IN_PROGRESS = "in_progress"
        COMPLETED = "completed"
        FAILED = "failed"
        CANCELLED = "cancelled"

    class Outcome(models.TextChoices):
        """What came of it."""

        SUMMARISED = "summarised"
        PRUNED = "pruned"
        NOOP = "noop"
        STUCK = "stuck"
        ABORTED = "aborted"
        DEFERRED = "deferred"
        COOLDOWN = "cooldown"

    class Phase(models.TextChoices):
        """Where a run in progress stands."""

        PLANNING = "planning"
        SUMMARISING = "summarising"
        ASSEMBLING = "assembling"
        SAVING = "saving"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="runs")
    result_session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    turn = models.ForeignKey(
        "Turn", null=True, blank=True, on_delete=models.SET_NULL, related_name="runs"
    )
    idempotency_key = models.CharField(max_length=128)
    trigger = models.CharField(max_length=32)
    forced = models.BooleanField(default=False)  # an operator went through a cooldown
    requested_by = models.ForeignKey(
        get_user_model(), null=True, blank=True, on_delete=models.SET_NULL
    )
    policy = models.JSONField(default=dict)
    plan_hash = models.CharField(max_length=64, blank=True)
    session_revision = models.PositiveIntegerField()
    focus = models.TextField(blank=True)
    status = models.CharField(
        max_length=16, choices=Status.choices, default=Status.QUEUED
    )
    phase = models.CharField(max_length=16, choices=Phase.choices, blank=True)
    phase_started = models.JSONField(default=dict, blank=True)  # phase -> ISO moment
    outcome = models.CharField(max_length=16, choices=Outcome.choices, blank=True)
    reason = models.CharField(max_length=64, blank=True)  # code, for the templates
    error = models.TextField(blank=True)  # redacted, ≤ 2,000 characters
    error_status = models.PositiveIntegerField(null=True, blank=True)
    ledger = models.JSONField(default=list, blank=True)
    findings = models.JSONField(default=list, blank=True)  # validator, after
    messages_before = models.PositiveIntegerField(default=0)
    messages_after = models.PositiveIntegerField(null=True, blank=True)
    messages_pruned = models.PositiveIntegerField(default=0)
    messages_summarised = models.PositiveIntegerField(default=0)
    tokens_before = models.PositiveIntegerField(default=0)
    tokens_after = models.PositiveIntegerField(null=True, blank=True)
    tokens_origin = models.CharField(max_length=16, default="rough")
    prompt = models.TextField(blank=True)
    summariser = models.CharField(max_length=128, blank=True)
    embedded = models.BooleanField(default=False)
    usage = models.JSONField(default=dict, blank=True)
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    latency = models.FloatField(null=True, blank=True)  # seconds, the model alone
    attempt = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=128, blank=True)
    queued_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            # Two presses, two tabs, two workers: one run (claude-command-center#108).
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(status__in=["queued", "in_progress"]),
                name="one_active_run_per_session",
            ),
            models.UniqueConstraint(
                fields=["idempotency_key"], name="one_run_per_idempotency_key"
            ),
        ]
        indexes = [
            models.Index(fields=["-queued_at", "-id"], name="run_by_time"),
            models.Index(
                fields=["status", "lease_until"],
                condition=Q(status__in=["queued", "in_progress"]),
                name="run_active",
            ),
            models.Index(fields=["outcome", "-queued_at"], name="run_by_outcome"),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def is_active(self) -> bool:
        """True while it is queued or in progress."""
        return self.status in (self.Status.QUEUED, self.Status.IN_PROGRESS)


class RunChunk(models.Model):
    """A batch of streamed summary text of a run, in the order of `seq`."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="chunks")
    attempt = models.PositiveIntegerField()
    seq = models.PositiveIntegerField()
    text = models.TextField()

    class Meta:
        ordering = ["run", "attempt", "seq"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "attempt", "seq"], name="one_chunk_per_seq"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.seq}"
