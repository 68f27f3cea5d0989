"""TaskState: goal and todos of a conversation, outside the messages."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.db import models

from compaction.models.conversation import Conversation


class TaskState(models.Model):
    """Goal and todos; `version` grows with every change (conflict detection)."""

    conversation = models.OneToOneField(
        Conversation, on_delete=models.CASCADE, related_name="task_state"
    )
    goal = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)  # of its rendering
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.goal or str(self.conversation_id)


class Todo(models.Model):
    """One todo; `key` is the id the agent uses."""

    class Status(models.TextChoices):
        """Article 003's three and Hermes' fourth."""

        PENDING = "pending"
        IN_PROGRESS = "in_progress"
        COMPLETED = "completed"
        CANCELLED = "cancelled"

    task_state = models.ForeignKey(
        TaskState, on_delete=models.CASCADE, related_name="todos"
    )
    key = models.CharField(max_length=64)
    subject = models.TextField()
    status = models.CharField(
        max_length=16, choices=Status.choices, default=Status.PENDING
    )
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["task_state", "position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["task_state", "key"], name="one_todo_per_key"
            )
        ]

    def __str__(self) -> str:
        return self.subject


class TaskStateVersion(models.Model):
    """A past version, whole, so that any change can be seen and undone."""

    task_state = models.ForeignKey(
        TaskState, on_delete=models.CASCADE, related_name="versions"
    )
    version = models.PositiveIntegerField()
    goal = models.TextField(blank=True)
    todos = models.JSONField(default=list)
    by_agent = models.BooleanField(default=False)
    author = models.ForeignKey(
        get_user_model(), null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["task_state", "-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["task_state", "version"], name="one_task_state_per_version"
            )
        ]

    def __str__(self) -> str:
        return f"v{self.version}"
