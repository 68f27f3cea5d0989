"""Deleting what only a page in motion needed: the pieces of streamed text.

What came of a run or a turn is kept for ever: as a summary, a message, an error.
"""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from compaction.models import RunChunk, TurnChunk

KEPT_FOR = timedelta(days=7)
"""How long after its end a run or a turn keeps what it streamed."""

_LOOKED_AT = 1_000  # the oldest pieces; keys grow with time, so the rest is younger


def purge_streams() -> int:
    """Delete old pieces of runs and turns that ended; returns how many went."""
    before = timezone.now() - KEPT_FOR
    oldest_of_runs = RunChunk.objects.order_by("pk").values("pk")[:_LOOKED_AT]
    oldest_of_turns = TurnChunk.objects.order_by("pk").values("pk")[:_LOOKED_AT]
    of_runs = RunChunk.objects.filter(pk__in=oldest_of_runs)
    of_turns = TurnChunk.objects.filter(pk__in=oldest_of_turns)
    gone, _ = of_runs.filter(run__finished_at__lt=before).delete()
    also_gone, _ = of_turns.filter(turn__finished_at__lt=before).delete()
    return gone + also_gone
