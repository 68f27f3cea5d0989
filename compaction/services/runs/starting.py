"""Starting and stopping runs: who may have one, and that there is never a second.

A run is queued here and done in `services.runs.work`. Two presses, two tabs or two
processes at the same moment make one run: the session's row is locked, and the
database itself allows one active run per session and one continuation per parent.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from compaction import wiring
from compaction.engine.policy import CompactionPolicy
from compaction.engine.policy_values import policy_to_dict
from compaction.engine.triggers import ERRORS, Trigger
from compaction.models import Conversation, Cooldown, Run, Session, Turn
from compaction.services.audit import Change, record_action
from compaction.services.cooldowns import active_cooldown
from compaction.store import Planned, plan_session, readable

ACTIVE = (Run.Status.QUEUED, Run.Status.IN_PROGRESS)
_CONTINUES = (Session.Link.COMPACTION, Session.Link.IN_PLACE)


class Refusal(StrEnum):
    """Why no new run was queued, as a code for the templates."""

    ALREADY_RUNNING = "already_running"  # `run` is the one that is on its way
    ALREADY_DONE = "already_done"  # the session goes on in `tip`
    STALE_PLAN = "stale_plan"  # something changed since the plan was shown
    COOLDOWN = "cooldown"  # `cooldown` says until when; an operator may force
    TURN_ACTIVE = "turn_active"  # the agent is at work, and compacts when it must


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What is asked for.

    `plan_hash` and `revision` are those of the plan that was shown, None when none
    was: then the run applies the plan of the moment it was queued. `forced` goes
    through a cooldown. `turn` is the turn that asks for it, None for anybody else.
    """

    policy: CompactionPolicy
    trigger: Trigger = Trigger.MANUAL
    operator: User | None = None
    focus: str = ""
    forced: bool = False
    plan_hash: str | None = None
    revision: int | None = None
    turn: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedRun:
    """What came of a request; `run` is None only when it was refused without one."""

    run: Run | None
    created: bool = False
    refusal: Refusal | None = None
    tip: Session | None = None
    cooldown: Cooldown | None = None


def queue_run(session: Session, request: RunRequest) -> QueuedRun:
    """Queue a run of a session, or say why not; sends nothing to a worker.

    An automatic trigger in a cooldown leaves one row per cooldown with the outcome
    `cooldown`, so that the Timeline shows what did not happen; a person is told at
    once and needs no row. Database errors pass through: no run is queued then.
    """
    try:
        with transaction.atomic():
            return _queue(_lock(session.pk), request)
    except IntegrityError:
        active = _active_run(session)
        if active is None:
            raise
        return _refuse_second(active)


def _lock(session_id: str) -> Session:
    rows = Session.objects.select_for_update(of=("self",))
    return rows.select_related("conversation").get(pk=session_id)


def _queue(session: Session, request: RunRequest) -> QueuedRun:
    refused = _refuse_early(session, request)
    if refused is not None:
        return refused
    planned = plan_session(
        session,
        request.policy,
        trigger=request.trigger,
        focus=request.focus,
        summariser_window=wiring.summariser_window(),
    )
    if _is_stale(planned, request):
        return QueuedRun(run=None, refusal=Refusal.STALE_PLAN)
    cooldown = active_cooldown(session.conversation)
    if cooldown is not None and not _goes_through(request):
        return _refuse_in_cooldown(session, request, planned, cooldown)
    run = _create(session, request, planned)
    _note_start(run, request)
    return QueuedRun(run=run, created=True)


def _refuse_early(session: Session, request: RunRequest) -> QueuedRun | None:
    active = _active_run(session)
    if active is not None:
        return _refuse_second(active)
    if session.undone or continuation_of(session) is not None:
        tip = session.conversation.tip
        return QueuedRun(run=None, refusal=Refusal.ALREADY_DONE, tip=tip)
    turns = Turn.objects.filter(
        conversation_id=session.conversation_id, status__in=ACTIVE
    )
    if any(pk != request.turn for pk in turns.values_list("pk", flat=True)):
        return QueuedRun(run=None, refusal=Refusal.TURN_ACTIVE)
    return None


def _active_run(session: Session) -> Run | None:
    return Run.objects.filter(session=session, status__in=ACTIVE).first()


def _refuse_second(active: Run) -> QueuedRun:
    return QueuedRun(run=active, refusal=Refusal.ALREADY_RUNNING)


def continuation_of(session: Session) -> Session | None:
    """Return the session that goes on where this one was compacted, if there is one."""
    children = Session.objects.filter(parent=session, undone=False)
    return children.filter(link__in=_CONTINUES).first()


def _is_stale(planned: Planned, request: RunRequest) -> bool:
    other_revision = request.revision not in (None, planned.revision)
    return other_revision or request.plan_hash not in (None, planned.plan.digest)


def _goes_through(request: RunRequest) -> bool:
    """An operator may; and an agent that cannot go on gets the embedded summary."""
    return request.forced or request.trigger in ERRORS


def _refuse_in_cooldown(
    session: Session, request: RunRequest, planned: Planned, cooldown: Cooldown
) -> QueuedRun:
    if request.trigger is Trigger.MANUAL:
        return QueuedRun(run=None, refusal=Refusal.COOLDOWN, cooldown=cooldown)
    skipped = Run.objects.filter(
        session=session,
        outcome=Run.Outcome.COOLDOWN,
        queued_at__gte=cooldown.started_at,
    ).first()
    run = skipped or _create(
        session,
        request,
        planned,
        status=Run.Status.COMPLETED,
        outcome=Run.Outcome.COOLDOWN,
        reason=cooldown.reason,
        finished_at=timezone.now(),
    )
    return QueuedRun(run=run, refusal=Refusal.COOLDOWN, cooldown=cooldown)


def _create(
    session: Session, request: RunRequest, planned: Planned, **columns: Any
) -> Run:
    now = timezone.now()
    ordinal = Run.objects.filter(session=session).count() + 1
    return Run.objects.create(
        session=session,
        idempotency_key=f"{session.pk}:{ordinal}",
        trigger=request.trigger.value,
        forced=request.forced,
        requested_by=request.operator,
        turn_id=request.turn,
        policy=policy_to_dict(request.policy),
        plan_hash=planned.plan.digest,
        session_revision=planned.revision,
        focus=readable(request.focus),
        messages_before=planned.plan.sizes.messages,
        tokens_before=planned.plan.tokens_before,
        tokens_origin=session.tokens_origin,
        queued_at=now,
        sent_at=now,
        **columns,
    )


def _note_start(run: Run, request: RunRequest) -> None:
    Conversation.objects.filter(sessions=run.session).update(
        run_count=F("run_count") + 1
    )
    if request.operator is None:
        return
    record_action(
        request.operator,
        "force_compact" if request.forced else "compact",
        run.session,
        change=Change(
            target=f"run:{run.pk}",
            after={"policy": request.policy.name, "plan": run.plan_hash},
        ),
    )


def cancel_run(run_id: UUID, *, operator: User | None = None) -> bool:
    """Stop a run that is queued or in progress; True when this call stopped it.

    A worker that is at it finds its lease gone at its next write and stops; a result
    that was already saved stays.
    """
    with transaction.atomic():
        active = Run.objects.filter(pk=run_id, status__in=ACTIVE)
        stopped = active.update(
            status=Run.Status.CANCELLED, lease_until=None, finished_at=timezone.now()
        )
        if stopped:
            run = Run.objects.select_related("session__conversation").get(pk=run_id)
            change = Change(target=f"run:{run_id}")
            record_action(operator, "cancel_run", run.session, change=change)
    return bool(stopped)
