"""What became of the evidence of a lineage, worked out once for a state of it."""

from __future__ import annotations

from django.db import models

from compaction.models.session import Session


class EvidenceTrace(models.Model):
    """The lives of all evidence along the chain that ends in a session.

    `mark` names the state of the chain that was read; `chain` its sessions, oldest
    first; `lives` is written and read by `store.evidence_traces` alone.
    """

    session = models.OneToOneField(
        Session, on_delete=models.CASCADE, related_name="evidence_trace"
    )
    mark = models.CharField(max_length=64)
    chain = models.JSONField(default=list)
    lives = models.JSONField(default=list)
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.session_id} {self.mark}"
