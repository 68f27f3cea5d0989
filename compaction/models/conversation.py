"""A conversation (the whole, across compactions) and the policies it may follow."""

from __future__ import annotations

from django.db import models


class PolicyProfile(models.Model):
    """A named policy: a preset with some values changed."""

    name = models.SlugField(max_length=64, unique=True)
    preset = models.CharField(max_length=32, default="default")
    overrides = models.JSONField(default=dict, blank=True)
    note = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Conversation(models.Model):
    """One conversation of one agent; a row of the Sessions page.

    Counts and tokens are those of the tip, kept in the transaction that changes them,
    so that lists never read a message.
    """

    class State(models.TextChoices):
        """Where it stands, worst first; cooldown and running are joined at read."""

        STUCK = "stuck"
        OVER = "over_threshold"
        IDLE = "idle"
        ENDED = "ended"

    source = models.CharField(max_length=32)
    external_id = models.CharField(max_length=255)
    title = models.CharField(max_length=255, blank=True)
    agent = models.CharField(max_length=128, blank=True)
    model = models.CharField(max_length=128, blank=True)
    window = models.PositiveIntegerField(default=200_000)
    window_is_declared = models.BooleanField(default=False)
    tip = models.ForeignKey(
        "Session", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    profile = models.ForeignKey(
        PolicyProfile, null=True, blank=True, on_delete=models.SET_NULL
    )
    policy_overrides = models.JSONField(default=dict, blank=True)
    memory_tokens = models.PositiveIntegerField(default=0)  # as rendered
    # engine.recovery.failover.EndpointState, times in seconds since the epoch
    endpoint_state = models.JSONField(default=dict, blank=True)
    may_continue = models.BooleanField(default=False)  # a copy that an operator owns
    is_demo = models.BooleanField(default=False)
    imported_from = models.CharField(max_length=512, blank=True)
    import_notes = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    active_at = models.DateTimeField()
    state = models.CharField(max_length=16, choices=State.choices, default=State.IDLE)
    session_count = models.PositiveIntegerField(default=1)
    run_count = models.PositiveIntegerField(default=0)
    message_count = models.PositiveIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    tokens_origin = models.CharField(max_length=16, default="rough")
    threshold = models.PositiveIntegerField(default=0)
    fill = models.FloatField(default=0.0)  # tokens / window
    bands = models.JSONField(default=dict, blank=True)  # tokens per region, mini bar
    last_error = models.CharField(max_length=255, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "external_id"], name="one_conversation_per_source_id"
            )
        ]
        indexes = [
            models.Index(fields=["-active_at", "-id"], name="conversation_by_activity"),
            models.Index(fields=["-tokens", "-id"], name="conversation_by_tokens"),
            models.Index(fields=["-fill", "-id"], name="conversation_by_fill"),
            models.Index(fields=["title", "id"], name="conversation_by_title"),
            models.Index(fields=["-message_count", "-id"], name="conversation_by_size"),
            models.Index(
                fields=["state", "-active_at", "-id"], name="conversation_by_state"
            ),
            models.Index(
                fields=["source", "-active_at", "-id"], name="conversation_by_source"
            ),
            models.Index(
                fields=["model", "-active_at", "-id"], name="conversation_by_model"
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.external_id
