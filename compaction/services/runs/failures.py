"""Runs that failed: why, what was kept, and when the next automatic try may come.

A failed run changes nothing of the conversation: every message and the summary in
force stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from django.db import transaction
from django.utils import timezone

from compaction.engine.cooldown import cooldown_after
from compaction.engine.llm import ModelError
from compaction.engine.phases.redaction import redact
from compaction.engine.phases.summary import SummaryFailed
from compaction.engine.recovery.classification import classify
from compaction.engine.recovery.reasons import Decision, Reason
from compaction.models import RecoveryEvent, Run
from compaction.services.conversations import refresh_conversation
from compaction.services.cooldowns import count_failures, start_cooldown
from compaction.services.leases import Lease
from compaction.store import readable

_DETAIL_CHARS = 2_000

KEPT_ALL = "kept_all"
STOOD_IN = "embedded_stand_in"
PLACEHOLDER = "placeholder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a run failed, as a code, with what the summariser said if it was asked.

    `decision` is there exactly when a summary failed; only then a cooldown starts.
    """

    reason: str
    error: str = ""
    status: int | None = None
    endpoint: str = ""
    decision: Decision | None = None

    @classmethod
    def of(cls, failed: SummaryFailed, *, endpoint: str) -> Self:
        """Read what went wrong with a summary."""
        decision = _decide(failed)
        said = failed.error
        reason = decision.reason.value if said else failed.fault.value
        return cls(
            reason=reason,
            error=_clean(_words_of(said) if said else _answer_of(failed)),
            status=said.status if said else None,
            endpoint=endpoint[:128],
            decision=decision,
        )

    @classmethod
    def no_shrink(cls, *, endpoint: str) -> Self:
        """Say that the answer was larger than what it was to replace.

        The next automatic run would pay for the same again (hermes#53008).
        """
        decision = Decision(reason=Reason.UNKNOWN)
        return cls(reason="no_shrink", endpoint=endpoint[:128], decision=decision)

    @classmethod
    def unexpected(cls, error: Exception) -> Self:
        """Say that the fault is ours."""
        return cls(
            reason="internal_error", error=_clean(f"{type(error).__name__}: {error}")
        )


def _decide(failed: SummaryFailed) -> Decision:
    if failed.error is not None:
        return classify(failed.error)
    return Decision(reason=Reason.BROKEN_RESPONSE, retryable=True)


def _words_of(error: ModelError) -> str:
    return f"{error}\n{error.body}".strip()


def _answer_of(failed: SummaryFailed) -> str:
    answer = failed.completion
    return (answer.text or answer.reasoning).strip() if answer else ""


def _clean(text: str) -> str:
    return readable(redact(text[: 2 * _DETAIL_CHARS]))[:_DETAIL_CHARS]


def fail_run(lease: Lease, failure: Failure) -> None:
    """Finish a run as failed with everything kept; raises LeaseLost."""
    with transaction.atomic():
        lease.finish(
            status=Run.Status.FAILED,
            outcome=Run.Outcome.ABORTED,
            reason=failure.reason,
            error=failure.error,
            error_status=failure.status,
            finished_at=timezone.now(),
        )
        run = Run.objects.select_related("session__conversation").get(pk=lease.pk)
        note_failure(run, failure, action=KEPT_ALL)
        refresh_conversation(run.session.conversation)


def note_failure(run: Run, failure: Failure, *, action: str) -> None:
    """Record a failed summary and start its cooldown; other failures leave the row."""
    decision = failure.decision
    if decision is None:
        return
    delay = _start_cooldown(run, failure, decision)
    RecoveryEvent.objects.create(
        session=run.session,
        run=run,
        turn_id=run.turn_id,
        at=timezone.now(),
        reason=failure.reason,
        status_code=failure.status,
        retryable=decision.retryable,
        should_compact=decision.should_compact,
        should_fallback=decision.should_fallback,
        action=action,
        attempt=run.attempt,
        delay=delay,
        endpoint=failure.endpoint,
        detail=failure.error,
    )


def _start_cooldown(run: Run, failure: Failure, decision: Decision) -> float:
    conversation = run.session.conversation
    seconds = cooldown_after(
        decision.reason,
        count_failures(conversation) + 1,
        retry_after=decision.retry_after,
    )
    start_cooldown(
        conversation,
        seconds=seconds,
        reason=failure.reason,
        error=failure.error,
        run=run,
    )
    return seconds
