"""A turn of the agent: one message of an operator and all that follows; leased."""

from __future__ import annotations

import uuid

from django.contrib.auth import get_user_model
from django.db import models
from django.db.models import Q

from compaction.models.conversation import Conversation
from compaction.models.session import Session


class Turn(models.Model):
    """One turn; the row is the truth, Celery messages are wake-ups.

    Leased as a run is: `attempt` is the fencing token, and only the newest claim may
    write. `session` is the tip at the start; compactions inside the turn move on from
    there, and the turn follows the conversation's tip.
    """

    class Status(models.TextChoices):
        """The same names as a run's."""

        QUEUED = "queued"
        IN_PROGRESS = "in_progress"
        COMPLETED = "completed"
        FAILED = "failed"
        CANCELLED = "cancelled"

    class Step(models.TextChoices):
        """Where a turn in progress stands, and where one stopped."""

        STARTING = "starting"
        CALLING = "calling"  # a model is asked
        TOOL = "tool"  # `step_detail` names it
        WAITING = "waiting"  # until `wait_until`
        COMPACTING = "compacting"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="turns"
    )
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns")
    idempotency_key = models.CharField(max_length=128)
    requested_by = models.ForeignKey(
        get_user_model(), null=True, blank=True, on_delete=models.SET_NULL
    )
    text = models.TextField()  # the operator's message
    status = models.CharField(
        max_length=16, choices=Status.choices, default=Status.QUEUED
    )
    step = models.CharField(max_length=16, choices=Step.choices, blank=True)
    step_detail = models.CharField(max_length=128, blank=True)
    wait_until = models.DateTimeField(null=True, blank=True)
    end = models.CharField(max_length=32, blank=True)  # a TurnEnd, or gave_up, …
    reason = models.CharField(max_length=64, blank=True)  # of the error that ended it
    error = models.TextField(blank=True)  # redacted, ≤ 2,000 characters
    error_status = models.PositiveIntegerField(null=True, blank=True)
    endpoint = models.CharField(max_length=128, blank=True)
    window = models.PositiveIntegerField(null=True, blank=True)  # believed in, tokens
    iterations = models.PositiveIntegerField(default=0)  # answers that were taken
    calls_made = models.PositiveIntegerField(default=0)  # tool calls begun
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=128, blank=True)
    queued_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=Q(status__in=["queued", "in_progress"]),
                name="one_active_turn_per_conversation",
            ),
            models.UniqueConstraint(
                fields=["idempotency_key"], name="one_turn_per_idempotency_key"
            ),
        ]
        indexes = [
            models.Index(
                fields=["conversation", "-queued_at"], name="turn_by_conversation"
            ),
            models.Index(
                fields=["status", "lease_until"],
                condition=Q(status__in=["queued", "in_progress"]),
                name="turn_active",
            ),
            models.Index(fields=["end", "-queued_at"], name="turn_by_end"),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def is_active(self) -> bool:
        """True while it is queued or in progress."""
        return self.status in (self.Status.QUEUED, self.Status.IN_PROGRESS)


class TurnChunk(models.Model):
    """One thing that a turn shows while it goes on, in the order of `number`.

    `text` for what streams in; `data` for the rest, see services.turns.stream.
    """

    class Kind(models.TextChoices):
        """What it is."""

        TEXT = "text"
        CALL = "call"  # a tool call begins
        RESULT = "result"  # and has its result
        ANSWER = "answer"  # an answer is complete and stored
        WAIT = "wait"
        EVENT = "event"  # an error, a move, a hook: `data.event` is its id
        RUN = "run"  # a compaction: `data.run` is its id

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField(default=1)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    text = models.TextField(blank=True)
    data = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["turn", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["turn", "number"], name="one_turn_chunk_per_number"
            )
        ]

    def __str__(self) -> str:
        return f"{self.turn_id} {self.number} {self.kind}"


class TurnCall(models.Model):
    """A tool call that has begun; what has begun is never run again.

    `ended_at` is written with the result, in one transaction. Ids of calls may be
    used again by a model, so `number` counts the calls of the turn.
    """

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="calls")
    number = models.PositiveIntegerField()
    call_id = models.CharField(max_length=255, blank=True)
    name = models.CharField(max_length=128, blank=True)
    attempt = models.PositiveIntegerField(default=1)
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["turn", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["turn", "number"], name="one_turn_call_per_number"
            )
        ]

    def __str__(self) -> str:
        return f"{self.turn_id} {self.name}"
