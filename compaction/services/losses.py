"""What operators do about what a summary loses: put it back, pin it, or let it go.

Putting back and pinning make a new revision of the summary, as any edit does, and the
audit of that revision says what is still lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from compaction.engine.evidence.telling import words_of
from compaction.engine.keeping import MESSAGE_CHARS, audit_replaced, pin_words, put_back
from compaction.engine.messages import Message as EngineMessage
from compaction.engine.phases.redaction import redact
from compaction.engine.task_state import render
from compaction.models import DismissedEvidence, Message, Session, Summary
from compaction.services.audit import Change, record_action
from compaction.services.roles import Person, Verb, can
from compaction.store import load_messages, summary_in_force
from compaction.store.losses import Loss, audit_to_json, read_losses
from compaction.store.message_rows import read_body
from compaction.store.task_states import newest_task_version


class Answer(StrEnum):
    """What an operator answers to a loss."""

    ADD = "add"
    PIN = "pin"
    DISMISS = "dismiss"
    RECALL = "recall"  # takes a dismissal back


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """What a summary stands for: the session before, and who wrote it."""

    source: Session
    before: Sequence[EngineMessage]
    previous: str


def may_answer(person: Person, summary: Summary | None) -> bool:
    """True for who may edit, while this very revision is what the agent is told."""
    if summary is None or not can(person, Verb.EDIT_SUMMARY):
        return False
    tip = summary.session.conversation.tip
    in_force = summary_in_force(tip) if tip else None
    return in_force == summary and tip == summary.session


def find_loss(session: Session, digest: str) -> Loss | None:
    """Return a loss of the session's summary in force by its name, or None."""
    summary = summary_in_force(session)
    losses = read_losses(summary) if summary else None
    found = losses.items if losses else ()
    return next((loss for loss in found if loss.digest == digest), None)


def with_loss(text: str, loss: Loss) -> str:
    """Return a summary's text with a loss put back."""
    return put_back(text, loss.kind, loss.text)


def with_message(session: Session, text: str, loss: Loss) -> str | None:
    """Return a summary's text that carries the message of a loss; None: it is gone."""
    row = _source_row(session, loss)
    if row is None:
        return None
    message = read_body(row.body, pinned=row.pinned, dropped=row.dropped)
    return pin_words(text, redact(words_of(message)[: 4 * MESSAGE_CHARS]))


def _source_row(session: Session, loss: Loss) -> Message | None:
    summary = summary_in_force(session)
    losses = read_losses(summary) if summary else None
    if losses is None or loss.position is None:
        return None
    rows = Message.objects.filter(
        session_id=losses.source, session__conversation=session.conversation_id
    )
    return rows.filter(position=loss.position).first()


def dismiss(session: Session, loss: Loss, operator: User | None) -> bool:
    """Call a loss not needed in its conversation; False when that was said before."""
    with transaction.atomic():
        _, is_new = DismissedEvidence.objects.get_or_create(
            conversation=session.conversation,
            digest=loss.digest,
            defaults={
                "kind": loss.kind.value,
                "text": loss.text,
                "author": operator,
                "created_at": timezone.now(),
            },
        )
        if is_new:
            _record(session, "dismiss_evidence", loss, operator)
    return is_new


def recall(session: Session, loss: Loss, operator: User | None) -> bool:
    """Take a dismissal back; False when there was none."""
    with transaction.atomic():
        rows = DismissedEvidence.objects.filter(
            conversation=session.conversation, digest=loss.digest
        )
        if not rows.delete()[0]:
            return False
        _record(session, "recall_evidence", loss, operator)
    return True


def _record(session: Session, verb: str, loss: Loss, operator: User | None) -> None:
    change = Change(after={"kind": loss.kind.value, "text": loss.text})
    record_action(operator, verb, session, change=change)


def audit_text(session: Session, text: str) -> dict[str, Any]:
    """Audit another text for the summary in force; {} where nothing tells what it
    stands for (an imported conversation that begins with its summary).
    """
    current = summary_in_force(session)
    parent = current.session.parent if current else None
    if current is None or parent is None:
        return {}
    stayed = _stayed(current.session, parent)
    audit = audit_replaced(
        load_messages(parent),
        frozenset(stayed),
        previous=_previous_text(current),
        told="\n".join([text, *stayed.values(), _task_text(session)]),
    )
    return audit_to_json(audit, parent.pk)


def _stayed(session: Session, parent: Session) -> dict[int, str]:
    """Positions in the session before of messages that are still there, with words."""
    rows = Message.objects.filter(session=session, origin_session_id=parent.pk)
    found = rows.values_list("origin_position", "body", "pinned", "dropped")
    return {
        place: words_of(read_body(body, pinned=pinned, dropped=dropped))
        for place, body, pinned, dropped in found
        if place is not None
    }


def _previous_text(summary: Summary) -> str:
    """The summary that the session before began with."""
    row: Summary | None = summary
    while row is not None and row.session_id == summary.session_id:
        row = row.previous
    return row.text if row else ""


def _task_text(session: Session) -> str:
    return render(newest_task_version(session.conversation).state)
