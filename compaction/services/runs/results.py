"""Applying the result of a run: a new session, all of it or nothing.

One transaction, guarded three times: by the lease (only the newest attempt may
write), by the session's revision (nothing changed since the plan), and by the
database's constraint of one continuation per session. The parent keeps every message.
"""

from __future__ import annotations

import secrets
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone

from compaction.engine.lineage import new_session_id, next_title
from compaction.engine.phases.placement import note_in_prompt
from compaction.engine.phases.summary import SummaryResult
from compaction.engine.plan import Outcome
from compaction.models import Conversation, Run, Session, Summary
from compaction.services.conversations import refresh_conversation
from compaction.services.cooldowns import SUCCESS, end_cooldowns
from compaction.services.crash_points import AFTER_COMMIT, BEFORE_COMMIT, reach
from compaction.services.runs.context import RunContext
from compaction.services.runs.failures import STOOD_IN, note_failure
from compaction.services.runs.report import Result, finish_completed
from compaction.services.runs.starting import continuation_of
from compaction.store import (
    Generation,
    NewSummary,
    add_summary,
    summary_in_force,
    write_generation,
)
from compaction.store.losses import losses_of_result

END_REASON = "compression"
"""What a session ends with when it goes on elsewhere; the word of Hermes' own log."""


class Outdated(Exception):
    """The session changed, or was continued, while the run worked: nothing is kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def apply_result(context: RunContext, result: Result) -> Session:
    """Save a result; raises LeaseLost or Outdated, and then nothing has changed."""
    try:
        with transaction.atomic(durable=True):
            child = _apply(context, result)
            reach(BEFORE_COMMIT)
    except IntegrityError as error:
        if continuation_of(context.session) is None:
            raise
        raise Outdated("superseded") from error
    reach(AFTER_COMMIT)
    return child


def _apply(context: RunContext, result: Result) -> Session:
    context.lease.renew()  # from here on nobody else can claim or cancel the run
    now = timezone.now()
    parent = _lock_unchanged(context)
    child = _make_child(parent, result.assembly.outcome, now)
    if result.summary is not None:
        _note_in_prompt(context, child)
    _write_messages(context, result, child)
    if result.summary is not None:
        _write_summary(context, result.summary, child)
    _end(parent, now)
    finish_completed(context, result, child)
    _note_health(context.run, result, parent.conversation)
    _move_tip(parent.conversation, parent, child)
    return child


def finish_stuck(context: RunContext, result: Result) -> None:
    """Save that a result was discarded, since it would not have been smaller."""
    with transaction.atomic():
        finish_completed(context, result, None)
        _note_health(context.run, result, context.session.conversation)
        refresh_conversation(context.session.conversation)


def _note_health(run: Run, result: Result, conversation: Conversation) -> None:
    """A good answer ends the cooldowns, a failed one starts the next."""
    if result.failure is not None:
        note_failure(run, result.failure, action=result.action)
    elif result.summary is not None and result.action != STOOD_IN:
        end_cooldowns(conversation, why=SUCCESS)


def _lock_unchanged(context: RunContext) -> Session:
    rows = Session.objects.select_for_update(of=("self",))
    parent = rows.select_related("conversation").get(pk=context.session.pk)
    if continuation_of(parent) is not None:
        raise Outdated("superseded")
    if parent.revision != context.run.session_revision:
        raise Outdated("stale_plan")
    return parent


def _make_child(parent: Session, outcome: Outcome, now: datetime) -> Session:
    titles = Session.objects.filter(conversation_id=parent.conversation_id)
    taken = titles.values_list("title", flat=True)
    title = parent.title or parent.conversation.title
    return Session.objects.create(
        id=_free_id(now),
        conversation=parent.conversation,
        parent=parent,
        link=Session.Link.COMPACTION,
        generation=parent.generation + 1,
        title=next_title(title, taken),
        model=parent.model,
        system_prompt=parent.system_prompt,
        tools=parent.tools,
        system_tokens=parent.system_tokens,
        tools_tokens=parent.tools_tokens,
        started_at=now,
        compactions=parent.compactions + (outcome is Outcome.SUMMARISED),
    )


def _note_in_prompt(context: RunContext, child: Session) -> None:
    """Tell an agent whose system prompt is kept apart that there is a summary.

    Where the prompt is a message of the list, the assembly has noted it there.
    """
    has_own = bool(context.messages) and context.messages[0].is_system
    if has_own or not (context.plan.policy.system_note and child.system_prompt):
        return
    child.system_prompt = note_in_prompt(child.system_prompt)
    child.system_tokens = context.counter.count(child.system_prompt)
    child.save(update_fields=["system_prompt", "system_tokens"])


def _free_id(now: datetime) -> str:
    while True:
        candidate = new_session_id(now, secrets.token_hex(3))
        if not Session.objects.filter(pk=candidate).exists():
            return candidate


def _write_messages(context: RunContext, result: Result, child: Session) -> None:
    generation = Generation(
        before=context.messages,
        messages=result.assembly.messages,
        origins=result.assembly.origins,
        at=child.started_at,
    )
    written = write_generation(
        child, context.session, generation, counter=context.counter
    )
    if written != len(result.assembly.messages):  # hermes#57574: a nearly empty child
        raise RuntimeError(f"{written} of {len(result.assembly.messages)} written")


def _write_summary(
    context: RunContext, summary: SummaryResult, child: Session
) -> Summary:
    origin = Summary.Origin.EMBEDDED if summary.embedded else Summary.Origin.GENERATED
    new = NewSummary(
        text=summary.text,
        origin=origin,
        tokens=context.counter.count(summary.text),
        model=summary.model,
        run=context.run,
        author=context.run.requested_by,
        losses=losses_of_result(summary, context.session.pk),
    )
    return add_summary(child, new, previous=summary_in_force(context.session))


def _end(parent: Session, now: datetime) -> None:
    parent.ended_at = parent.ended_at or now
    parent.end_reason = parent.end_reason or END_REASON  # a copy keeps its agent's
    parent.save(update_fields=["ended_at", "end_reason"])


def _move_tip(conversation: Conversation, parent: Session, child: Session) -> None:
    if conversation.tip_id == parent.pk:
        conversation.tip = child
        conversation.active_at = child.started_at
        conversation.save(update_fields=["tip", "active_at"])
    refresh_conversation(conversation)
