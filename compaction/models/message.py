"""A stored message: its body, and the numbers that plans and lists live on."""

from __future__ import annotations

from django.db import models

from compaction.models.session import Session


class Message(models.Model):
    """One message of a session.

    `body` is JSON text of `engine.messages.to_storage` (exact; JSON escapes carry NUL
    and lone surrogates that a database text cannot); `text` its readable text with
    such characters made visible, for previews and search. Everything that planning
    needs stands in number columns: a plan never reads `body`.
    """

    # found by the unique index over session and position; one of its own is waste
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="messages", db_index=False
    )
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, default="plain")
    role = models.CharField(max_length=16)
    body = models.TextField()
    text = models.TextField(blank=True)
    calls = models.JSONField(default=list, blank=True)  # [[id, name, arguments ≤ 200]]
    tool_call_id = models.CharField(max_length=255, blank=True)
    tool_name = models.CharField(max_length=128, blank=True)
    at = models.DateTimeField(null=True, blank=True)
    external_id = models.CharField(max_length=255, blank=True)
    # of what the foreign log says; empty for a message of our own
    source_digest = models.CharField(max_length=32, blank=True)
    origin_session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    origin_position = models.PositiveIntegerField(null=True, blank=True)
    inactive = models.BooleanField(default=False)  # rewound by the agent
    pinned = models.BooleanField(default=False)
    dropped = models.BooleanField(default=False)
    # the numbers of engine.outline.MessageFacts
    tokens = models.PositiveIntegerField()
    pruned_tokens = models.PositiveIntegerField()
    cumulative_tokens = models.PositiveIntegerField(default=0)  # up to and with it
    chars = models.PositiveIntegerField(default=0)
    args_chars = models.PositiveIntegerField(default=0)
    images = models.PositiveSmallIntegerField(default=0)
    has_text = models.BooleanField(default=False)
    digest = models.CharField(max_length=32, blank=True)

    class Meta:
        ordering = ["session", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "position"], name="one_message_per_position"
            )
        ]
        indexes = [
            models.Index(
                fields=["session", "role", "position"], name="message_by_role"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session_id} #{self.position}"
