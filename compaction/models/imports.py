"""An import: files that become conversations, done by a worker."""

from __future__ import annotations

import uuid

from django.contrib.auth import get_user_model
from django.db import models


class ImportJob(models.Model):
    """One import of one file; a row with a lease, as a run is."""

    class Status(models.TextChoices):
        """The same names as a run's."""

        QUEUED = "queued"
        IN_PROGRESS = "in_progress"
        COMPLETED = "completed"
        FAILED = "failed"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    label = models.CharField(max_length=255)  # the file's name, for people
    path = models.CharField(max_length=1024)
    is_upload = models.BooleanField(default=True)
    format = models.CharField(max_length=32, blank=True)
    size = models.PositiveBigIntegerField(default=0)  # bytes
    status = models.CharField(
        max_length=16, choices=Status.choices, default=Status.QUEUED
    )
    conversations_done = models.PositiveIntegerField(default=0)
    conversations_new = models.PositiveIntegerField(default=0)
    conversations_grown = models.PositiveIntegerField(default=0)
    conversations_unchanged = models.PositiveIntegerField(default=0)
    messages_done = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=32, blank=True)
    error = models.TextField(blank=True)
    error_line = models.PositiveIntegerField(null=True, blank=True)
    requested_by = models.ForeignKey(
        get_user_model(), null=True, blank=True, on_delete=models.SET_NULL
    )
    attempt = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    queued_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["-queued_at"], name="import_by_time")]

    def __str__(self) -> str:
        return self.label

    @property
    def is_active(self) -> bool:
        """True while it is queued or in progress."""
        return self.status in (self.Status.QUEUED, self.Status.IN_PROGRESS)
