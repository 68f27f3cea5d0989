"""What an agent keeps of a conversation beside its messages."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.db import models

from compaction.models.conversation import Conversation


class MemoryItem(models.Model):
    """One version of one memory; the newest version of an `item` is in force.

    Append-only: an edit, a removal and a return are further versions, so nothing that
    was ever remembered is lost.
    """

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="memory_items"
    )
    item = models.PositiveIntegerField()  # counts the memories of the conversation
    version = models.PositiveIntegerField(default=1)
    text = models.TextField()
    tokens = models.PositiveIntegerField(default=0)
    removed = models.BooleanField(default=False)
    by_agent = models.BooleanField(default=False)
    author = models.ForeignKey(
        get_user_model(), null=True, blank=True, on_delete=models.SET_NULL
    )
    at = models.DateTimeField()

    class Meta:
        ordering = ["conversation", "item", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "item", "version"],
                name="one_memory_per_version",
            )
        ]

    def __str__(self) -> str:
        return f"{self.item} v{self.version}: {self.text[:60]}"
