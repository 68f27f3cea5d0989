"""A cooldown: no automatic summary call for a conversation until a moment."""

from __future__ import annotations

from django.db import models

from compaction.models.conversation import Conversation
from compaction.models.run import Run


class Cooldown(models.Model):
    """One rung of the ladder; the newest uncleared one whose `until` lies ahead is on.

    It is bound to the conversation, so it outlives a change of session and never
    reaches another conversation (hermes#15547).
    """

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="cooldowns"
    )
    run = models.ForeignKey(  # whose failure started it; none when imported
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="cooldowns"
    )
    started_at = models.DateTimeField()
    until = models.DateTimeField()
    seconds = models.PositiveIntegerField()
    failures = models.PositiveIntegerField(default=1)  # consecutive, this one included
    reason = models.CharField(max_length=64)
    error = models.TextField(blank=True)
    cleared_at = models.DateTimeField(null=True, blank=True)
    cleared_why = models.CharField(max_length=32, blank=True)  # operator, success

    class Meta:
        indexes = [
            models.Index(fields=["conversation", "-until"], name="cooldown_newest"),
            models.Index(fields=["-until"], name="cooldown_active"),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id} until {self.until:%H:%M:%S}"
