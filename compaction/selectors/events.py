"""The last things that happened to a conversation, for the aside of its pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from compaction.models import (
    Conversation,
    Cooldown,
    LoopEvent,
    RecoveryEvent,
    Run,
    Session,
)
from compaction.selectors.context import SessionHeader


@dataclass(frozen=True, slots=True, kw_only=True)
class LastEvent:
    """A run that ended, an error, or a cooldown that began; one of them is set."""

    at: datetime
    run: Run | None = None
    fault: RecoveryEvent | None = None
    cooldown: Cooldown | None = None


def last_events(
    header: SessionHeader, runs: Iterable[Run], count: int
) -> tuple[LastEvent, ...]:
    """Return the newest events, `runs` among them, newest first; two queries."""
    counts, conversation = header.counts, header.conversation
    found = [
        *(LastEvent(at=run.finished_at or run.queued_at, run=run) for run in runs),
        *(_faults(conversation, count) if counts.faults else ()),
        *(_cooldowns(conversation, count) if counts.cooldowns else ()),
    ]
    found.sort(key=lambda event: event.at, reverse=True)
    return tuple(found[:count])


_ENDED = (
    Run.objects.filter(finished_at__isnull=False)
    .defer("ledger", "findings", "prompt", "policy", "usage")
    .order_by("-queued_at", "-pk")
)


def ended_runs(header: SessionHeader, count: int) -> list[Run]:
    """Return the newest runs that ended, without their large parts."""
    if not header.counts.runs:
        return []
    return list(_ENDED.filter(session__conversation=header.conversation)[:count])


def run_that_compacted(session: Session) -> Run | None:
    """Return the run that led from a session to the next; None when nobody knows."""
    runs = Run.objects.filter(session=session, result_session__isnull=False)
    return runs.defer("ledger", "findings", "prompt").order_by("-finished_at").first()


def loops_of(header: SessionHeader) -> tuple[LoopEvent, ...]:
    """Return the loops that a session itself shows; no query where there are none."""
    if not header.counts.loops:
        return ()
    return tuple(LoopEvent.objects.filter(session=header.session).order_by("kind"))


def _faults(conversation: Conversation, count: int) -> Iterator[LastEvent]:
    faults = RecoveryEvent.objects.filter(
        session__conversation=conversation, kind=RecoveryEvent.Kind.ERROR
    )
    for fault in faults.order_by("-at", "-pk")[:count]:
        yield LastEvent(at=fault.at, fault=fault)


def _cooldowns(conversation: Conversation, count: int) -> Iterator[LastEvent]:
    rungs = Cooldown.objects.filter(conversation=conversation)
    for rung in rungs.order_by("-started_at", "-pk")[:count]:
        yield LastEvent(at=rung.started_at, cooldown=rung)
