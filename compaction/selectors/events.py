"""The last things that happened to a conversation, for the aside of its pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from compaction.models import Conversation, Cooldown, RecoveryEvent, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class LastEvent:
    """A run that ended, an error, or a cooldown that began; one of them is set."""

    at: datetime
    run: Run | None = None
    fault: RecoveryEvent | None = None
    cooldown: Cooldown | None = None


def last_events(conversation: Conversation, count: int) -> tuple[LastEvent, ...]:
    """Return the newest events, newest first; three queries."""
    found = [
        *_runs(conversation, count),
        *_faults(conversation, count),
        *_cooldowns(conversation, count),
    ]
    found.sort(key=lambda event: event.at, reverse=True)
    return tuple(found[:count])


def _runs(conversation: Conversation, count: int) -> Iterator[LastEvent]:
    runs = Run.objects.filter(
        session__conversation=conversation, finished_at__isnull=False
    ).defer("ledger", "findings", "prompt", "policy", "usage")
    for run in runs.order_by("-queued_at", "-pk")[:count]:
        yield LastEvent(at=run.finished_at or run.queued_at, run=run)


def _faults(conversation: Conversation, count: int) -> Iterator[LastEvent]:
    faults = RecoveryEvent.objects.filter(session__conversation=conversation)
    for fault in faults.order_by("-at", "-pk")[:count]:
        yield LastEvent(at=fault.at, fault=fault)


def _cooldowns(conversation: Conversation, count: int) -> Iterator[LastEvent]:
    rungs = Cooldown.objects.filter(conversation=conversation)
    for rung in rungs.order_by("-started_at", "-pk")[:count]:
        yield LastEvent(at=rung.started_at, cooldown=rung)
