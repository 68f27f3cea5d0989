"""A session: one generation of a conversation, between two compactions."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from compaction.models.conversation import Conversation


class Session(models.Model):
    """What the agent sent between two compactions; nothing of it is ever deleted.

    `revision` grows with every change of the messages; a run applies only to the
    revision it was planned on. Tokens are of the messages alone; `system_tokens` and
    `tools_tokens` are what is sent beside them.
    """

    class Link(models.TextChoices):
        """How it hangs on its parent."""

        ROOT = "root"
        COMPACTION = "compaction"
        IN_PLACE = "in_place"
        BRANCH = "branch"

    id = models.CharField(primary_key=True, max_length=64)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="sessions"
    )
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="children"
    )
    link = models.CharField(max_length=16, choices=Link.choices, default=Link.ROOT)
    external_id = models.CharField(max_length=255, blank=True)
    generation = models.PositiveIntegerField(default=1)
    title = models.CharField(max_length=255, blank=True)
    model = models.CharField(max_length=128, blank=True)
    system_prompt = models.TextField(blank=True)
    tools = models.JSONField(default=list, blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.CharField(max_length=64, blank=True)
    revision = models.PositiveIntegerField(default=1)
    message_count = models.PositiveIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    tokens_origin = models.CharField(max_length=16, default="rough")
    encoding = models.CharField(max_length=32, blank=True)
    system_tokens = models.PositiveIntegerField(default=0)
    tools_tokens = models.PositiveIntegerField(default=0)
    provider_tokens = models.PositiveIntegerField(null=True, blank=True)
    provider_position = models.IntegerField(null=True, blank=True)
    compactions = models.PositiveIntegerField(default=0)  # before this generation
    undone = models.BooleanField(default=False)

    class Meta:
        constraints = [
            # Two workers can never both continue the same session (hermes#34351).
            models.UniqueConstraint(
                fields=["parent"],
                condition=Q(link__in=["compaction", "in_place"], undone=False),
                name="one_continuation_per_session",
            )
        ]
        indexes = [
            models.Index(fields=["conversation", "generation"], name="session_lineage"),
            models.Index(fields=["external_id"], name="session_external"),
        ]

    def __str__(self) -> str:
        return self.id
