"""The sign of life of the workers."""

from __future__ import annotations

from django.db import models


class WorkerSign(models.Model):
    """When a worker was last heard of, in one row; every sweep renews it.

    A sweep goes through the broker, so a fresh sign says that both are well.
    """

    ONLY = 1

    at = models.DateTimeField()
    worker = models.CharField(max_length=128, blank=True)

    def __str__(self) -> str:
        return f"{self.worker} at {self.at:%H:%M:%S}"
