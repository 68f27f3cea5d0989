"""A recovery event: an error, the decision, and what was done about it."""

from __future__ import annotations

from django.db import models

from compaction.models.run import Run
from compaction.models.session import Session
from compaction.models.turn import Turn


class RecoveryEvent(models.Model):
    """One error and what followed, or a change between calls; in order of time.

    A `kind` other than an error needs no reason: it is a move of the recovery itself,
    with what was `before` and `after` it (names of endpoints, windows in tokens).
    """

    class Kind(models.TextChoices):
        """What happened."""

        ERROR = "error"
        FAILED_OVER = "failed_over"
        RESTORED = "restored"  # back at the primary
        WINDOW_LOWERED = "window_lowered"
        CONTINUED = "continued"  # a cut answer is continued: `attempt` of `attempts`
        RESUMED = "resumed"  # another worker goes on where one died
        INTERRUPTED = "interrupted"  # a call that had begun and is not run again
        MEMORY_FAILED = "memory_failed"  # the flush before a compaction
        HOOK_FAILED = "hook_failed"
        HOOK_SLOW = "hook_slow"

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="recovery_events"
    )
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="events"
    )
    turn = models.ForeignKey(
        Turn, null=True, blank=True, on_delete=models.SET_NULL, related_name="events"
    )
    at = models.DateTimeField()
    kind = models.CharField(max_length=16, choices=Kind.choices, default=Kind.ERROR)
    reason = models.CharField(max_length=48, blank=True)
    status_code = models.PositiveIntegerField(null=True, blank=True)
    retryable = models.BooleanField(default=False)
    should_compact = models.BooleanField(default=False)
    should_fallback = models.BooleanField(default=False)
    should_shrink_output = models.BooleanField(default=False)
    retry_after = models.FloatField(null=True, blank=True)  # seconds, as asked for
    stated_window = models.PositiveIntegerField(null=True, blank=True)  # tokens
    action = models.CharField(max_length=48, blank=True)
    attempt = models.PositiveIntegerField(default=1)
    attempts = models.PositiveIntegerField(null=True, blank=True)
    delay = models.FloatField(null=True, blank=True)  # seconds
    endpoint = models.CharField(max_length=128, blank=True)
    before = models.CharField(max_length=128, blank=True)
    after = models.CharField(max_length=128, blank=True)
    detail = models.TextField(blank=True)  # redacted, ≤ 2,000 characters

    class Meta:
        indexes = [
            models.Index(fields=["session", "-at"], name="event_by_session"),
            models.Index(fields=["-at", "-id"], name="event_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.reason or self.kind} → {self.action or self.after}"
