"""A recovery event: an error, the decision, and what was done about it."""

from __future__ import annotations

from django.db import models

from compaction.models.run import Run
from compaction.models.session import Session


class RecoveryEvent(models.Model):
    """One error and what followed; the Timeline shows them in order."""

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="recovery_events"
    )
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="events"
    )
    at = models.DateTimeField()
    reason = models.CharField(max_length=48)
    status_code = models.PositiveIntegerField(null=True, blank=True)
    retryable = models.BooleanField(default=False)
    should_compact = models.BooleanField(default=False)
    should_fallback = models.BooleanField(default=False)
    action = models.CharField(max_length=48)
    attempt = models.PositiveIntegerField(default=1)
    attempts = models.PositiveIntegerField(null=True, blank=True)
    delay = models.FloatField(null=True, blank=True)  # seconds
    endpoint = models.CharField(max_length=128, blank=True)
    detail = models.TextField(blank=True)  # redacted, ≤ 2,000 characters

    class Meta:
        indexes = [models.Index(fields=["session", "-at"], name="event_by_session")]

    def __str__(self) -> str:
        return f"{self.reason} → {self.action}"
