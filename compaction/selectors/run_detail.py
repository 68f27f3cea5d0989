"""Reads of one run: what its page and its stream show."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from compaction.models import Cooldown, RecoveryEvent, Run, RunChunk, Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerCount:
    """What the ledger says about the messages of one region."""

    region: str
    messages: int
    pruned: int
    tokens: int
    tokens_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """Text that a run has received so far; `place` is the last batch that is in it."""

    text: str = ""
    attempt: int = 0
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetail:
    """One run and all that belongs to it."""

    run: Run
    streamed: Streamed
    events: tuple[RecoveryEvent, ...]
    ledger: tuple[LedgerCount, ...]
    cooldown: Cooldown | None
    summary: Summary | None


def find_run(run_id: uuid.UUID) -> Run | None:
    """Return a run with its conversation, or None."""
    return (
        Run.objects.select_related(
            "session__conversation", "requested_by", "result_session"
        )
        .defer("session__system_prompt", "session__tools")
        .filter(pk=run_id)
        .first()
    )


def find_progress(run_id: uuid.UUID) -> Run | None:
    """Return a run with the few columns that say how far it is, or None."""
    columns = ("status", "phase", "phase_started", "outcome", "attempt")
    times = ("queued_at", "started_at", "finished_at")
    return Run.objects.only(*columns, *times).filter(pk=run_id).first()


def run_detail(run_id: uuid.UUID) -> RunDetail | None:
    """Return everything the page of a run shows, or None; at most five queries."""
    run = find_run(run_id)
    if run is None:
        return None
    return RunDetail(
        run=run,
        streamed=streamed_text(run_id),
        events=tuple(run.events.order_by("at", "pk")),
        ledger=count_ledger(run.ledger),
        cooldown=run.cooldowns.order_by("started_at").first(),
        summary=run.summaries.order_by("pk").first(),
    )


def streamed_text(run_id: uuid.UUID, *, attempt: int = 0, seq: int = 0) -> Streamed:
    """Return the text of the newest attempt, from behind a batch on if that is in it.

    A run that was taken over by another worker starts its text again.
    """
    rows = RunChunk.objects.filter(run_id=run_id).order_by("-attempt", "-seq")
    newest = rows.values_list("attempt", "seq").first()
    if newest is None:
        return Streamed()
    behind = seq if attempt == newest[0] else 0
    parts = tuple(
        rows.filter(attempt=newest[0], seq__gt=behind)
        .order_by("seq")
        .values_list("text", flat=True)
    )
    return Streamed(text="".join(parts), attempt=newest[0], seq=newest[1])


def count_ledger(entries: Iterable[Mapping[str, object]]) -> tuple[LedgerCount, ...]:
    """Add a ledger up by region, in the order of the conversation."""
    sums: dict[str, list[int]] = {}
    for entry in entries:
        row = sums.setdefault(str(entry.get("region", "")), [0, 0, 0, 0])
        row[0] += 1
        row[1] += bool(entry.get("pruned"))
        row[2] += _number(entry.get("tokens"))
        row[3] += _number(entry.get("after"))
    return tuple(
        LedgerCount(
            region=region,
            messages=row[0],
            pruned=row[1],
            tokens=row[2],
            tokens_after=row[3],
        )
        for region, row in sums.items()
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
