"""How far a run is and how long each step took, as the row says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from compaction.models import Run


class StepState(StrEnum):
    """How far a step is; the class of its line."""

    WAITS = ""
    NOW = "now"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a run; `took` in seconds where it is known, `at` its beginning."""

    code: str
    state: StepState
    at: datetime | None = None
    took: float | None = None


_QUEUED = "queued"
_PHASES = tuple(phase.value for phase in Run.Phase)
_BROKE = (Run.Status.FAILED, Run.Status.CANCELLED)


def steps_of(run: Run) -> tuple[Step, ...]:
    """Say how far a run is, or how far it came."""
    waited = _seconds(run.queued_at, run.started_at or run.finished_at)
    first = Step(code=_QUEUED, state=_queue_state(run), at=run.queued_at, took=waited)
    return (first, *(_step(run, phase) for phase in _PHASES))


def _queue_state(run: Run) -> StepState:
    if run.status == Run.Status.QUEUED:
        return StepState.NOW
    if run.started_at is None and run.status in _BROKE:
        return StepState.FAILED
    return StepState.DONE


def _step(run: Run, phase: str) -> Step:
    state = _state_of(run, phase)
    begin = _began(run, phase)
    is_over = state in (StepState.DONE, StepState.FAILED) and begin is not None
    return Step(
        code=phase,
        state=state,
        at=begin or run.started_at,
        took=_seconds(begin, _ended(run, begin)) if begin and is_over else None,
    )


def _began(run: Run, phase: str) -> datetime | None:
    """When the newest attempt entered a phase; runs of old versions did not say."""
    told = run.phase_started.get(phase)
    return datetime.fromisoformat(told) if told else None


def _ended(run: Run, begin: datetime) -> datetime | None:
    """When the phase that began then was left: at the next one, or at the end."""
    later = filter(None, (_began(run, phase) for phase in _PHASES))
    return min((at for at in later if at > begin), default=run.finished_at)


def _state_of(run: Run, phase: str) -> StepState:
    place, reached = _PHASES.index(phase), _reached(run)
    if place < reached:
        return _passed(run, phase)
    if run.is_active:
        return StepState.NOW if place == reached else StepState.WAITS
    if place > reached or run.started_at is None:
        return StepState.SKIPPED
    broke = run.status in _BROKE or run.outcome == Run.Outcome.ABORTED
    return StepState.FAILED if broke else _passed(run, phase)


def _passed(run: Run, phase: str) -> StepState:
    skipped = phase == Run.Phase.SUMMARISING and run.outcome == Run.Outcome.PRUNED
    return StepState.SKIPPED if skipped else StepState.DONE


def _reached(run: Run) -> int:
    """Return the number of the phase that a run is in or ended in, -1 before all."""
    if run.outcome in (Run.Outcome.SUMMARISED, Run.Outcome.PRUNED):
        return len(_PHASES)
    if run.phase:
        return _PHASES.index(run.phase)
    started = run.started_at is not None or run.status == Run.Status.IN_PROGRESS
    return 0 if started else -1


def _seconds(start: datetime, end: datetime | None) -> float | None:
    return max(0.0, (end - start).total_seconds()) if end else None
