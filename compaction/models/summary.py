"""A summary and its revisions, and what of the evidence nobody needs in it."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.db import models

from compaction.models.conversation import Conversation
from compaction.models.run import Run
from compaction.models.session import Session


class Summary(models.Model):
    """One revision of the running summary of a conversation.

    `session` is the session whose context it opens; revisions of one session replace
    each other (edited, restored), the newest is in force.
    """

    class Origin(models.TextChoices):
        """Who wrote it."""

        GENERATED = "generated"
        EMBEDDED = "embedded"
        EDITED = "edited"
        RESTORED = "restored"
        IMPORTED = "imported"

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="summaries"
    )
    previous = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="next"
    )
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="summaries"
    )
    revision = models.PositiveIntegerField(default=1)  # within the conversation
    origin = models.CharField(max_length=16, choices=Origin.choices)
    text = models.TextField()  # bare: no prefix, no end marker
    sections = models.JSONField(default=list, blank=True)  # [[heading, [item, …]], …]
    tokens = models.PositiveIntegerField(default=0)
    model = models.CharField(max_length=128, blank=True)
    author = models.ForeignKey(
        get_user_model(), null=True, blank=True, on_delete=models.SET_NULL
    )
    reason = models.CharField(max_length=255, blank=True)
    losses = models.JSONField(default=dict, blank=True)  # the audit, store/losses.py
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["session", "revision"]
        verbose_name_plural = "summaries"
        indexes = [
            models.Index(fields=["session", "-revision"], name="summary_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.session_id} r{self.revision}"


class DismissedEvidence(models.Model):
    """A piece of evidence that an operator called not needed; no audit names it again.

    `digest` is a hash over its kind and text.
    """

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="dismissed_evidence"
    )
    digest = models.CharField(max_length=32)
    kind = models.CharField(max_length=16)
    text = models.TextField()
    author = models.ForeignKey(
        get_user_model(), null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["conversation", "-created_at"]
        verbose_name_plural = "dismissed evidence"
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "digest"], name="dismissed_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.text[:60]}"
