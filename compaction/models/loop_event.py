"""A loop event: an agent that goes round in circles about its compactions."""

from __future__ import annotations

from django.db import models

from compaction.models.run import Run
from compaction.models.session import Session


class LoopEvent(models.Model):
    """One sign of a loop in one session, as `engine.repetition` found it last.

    `count` is how many things were read again, or how many runs came within `turns`
    answers of the model; `share` how equal two summaries are. `repeats` lists what was
    read again: {"what", "position", "session", "before", "times", "told"}.
    """

    class Kind(models.TextChoices):
        """How it goes round in circles."""

        REREAD = "reread"
        EQUAL_SUMMARIES = "equal_summaries"
        RAPID_RUNS = "rapid_runs"

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="loop_events"
    )
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    kind = models.CharField(max_length=24, choices=Kind.choices)
    at = models.DateTimeField()
    is_alarm = models.BooleanField(default=False)
    count = models.PositiveIntegerField(default=0)
    turns = models.PositiveIntegerField(default=0)
    share = models.FloatField(default=0.0)
    repeats = models.JSONField(default=list, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "kind"], name="one_loop_event_per_session_and_kind"
            )
        ]
        indexes = [models.Index(fields=["session", "-at"], name="loop_by_session")]

    def __str__(self) -> str:
        return f"{self.session_id} {self.kind}"
