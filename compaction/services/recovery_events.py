"""What went wrong and what was done about it, as rows of the Timeline."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from compaction.engine.phases.redaction import redact
from compaction.engine.turn import CallFailure, Moved
from compaction.models import RecoveryEvent, Run, Session, Turn
from compaction.store import readable

DETAIL_CHARS = 2_000


def record_failure(session: Session, turn: Turn, failure: CallFailure) -> RecoveryEvent:
    """Store a failed call with its decision."""
    decision, error = failure.decision, failure.error
    return RecoveryEvent.objects.create(
        session=session,
        turn=turn,
        at=timezone.now(),
        reason=decision.reason.value,
        status_code=error.status if error else None,
        retryable=decision.retryable,
        should_compact=decision.should_compact,
        should_fallback=decision.should_fallback,
        should_shrink_output=decision.should_shrink_output,
        retry_after=decision.retry_after,
        stated_window=decision.stated_window,
        action=failure.action.value,
        attempt=failure.attempt,
        attempts=failure.attempts,
        delay=failure.delay or None,
        endpoint=failure.endpoint[:128],
        detail=clean(f"{error}\n{error.body}") if error else failure.note,
    )


def record_move(
    session: Session, turn: Turn, moved: Moved, *, endpoint: str
) -> RecoveryEvent:
    """Store a change between calls; its kind has the name of the move."""
    return RecoveryEvent.objects.create(
        session=session,
        turn=turn,
        at=timezone.now(),
        kind=RecoveryEvent.Kind(moved.move.value),
        before=moved.before[:128],
        after=moved.after[:128],
        attempt=moved.number or 1,
        attempts=moved.limit or None,
        endpoint=endpoint[:128],
    )


def record_note(
    session: Session,
    kind: RecoveryEvent.Kind,
    *,
    turn: Turn | None = None,
    run: Run | None = None,
    **columns: Any,
) -> RecoveryEvent:
    """Store something else that happened: an interruption, a hook, the memory."""
    if "detail" in columns:
        columns["detail"] = clean(columns["detail"])
    return RecoveryEvent.objects.create(
        session=session, kind=kind, turn=turn, run=run, at=timezone.now(), **columns
    )


def clean(text: str) -> str:
    """Return what of a foreign text may be stored and shown: redacted and cut."""
    return readable(redact(text.strip()[: 2 * DETAIL_CHARS]))[:DETAIL_CHARS]
