"""Token counts by content hash, so that no text is counted twice."""

from __future__ import annotations

from django.db import models


class TokenCountCache(models.Model):
    """How many tokens the text with this hash has in this encoding."""

    encoding = models.CharField(max_length=32)
    digest = models.CharField(max_length=32)
    tokens = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["encoding", "digest"], name="one_count_per_text"
            )
        ]

    def __str__(self) -> str:
        return f"{self.encoding} {self.digest}: {self.tokens}"
