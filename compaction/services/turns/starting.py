"""Starting and stopping turns: who may have one, and that there is never a second.

A turn is queued here and done in `services.turns.work`. The operator's message is
stored with the turn, in one transaction: from then on it cannot be lost. The database
itself allows one active turn per conversation; a turn and a run that was started by
hand exclude each other, since both change the tip.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from compaction import wiring
from compaction.engine.messages import Kind, Message, Role
from compaction.engine.turn import TurnEnd
from compaction.models import Conversation, Run, Session, Turn
from compaction.services.audit import Change, record_action
from compaction.services.conversations import refresh_conversation
from compaction.services.runs.starting import ACTIVE, cancel_run, continuation_of
from compaction.store import NewMessage, is_copy, readable, write_messages
from compaction.store.messages import open_calls_at_end

TEXT_CHARS = 200_000
STOPPED = "[The turn ended before this call had a result. It may have taken effect.]"


class TurnRefusal(StrEnum):
    """Why no turn was queued, as a code for the templates."""

    BUSY = "busy"  # `turn` is the one that is on its way
    COMPACTING = "compacting"  # `run` is at the session
    IMPORTED = "imported"  # a copy: the agent's own conversation is elsewhere
    NO_ENDPOINT = "no_endpoint"
    BLANK = "blank"
    TOO_LONG = "too_long"
    NO_SESSION = "no_session"


class TurnRefused(Exception):
    """No turn was queued and nothing was written; `code` says why."""

    def __init__(
        self, code: TurnRefusal, *, turn: Turn | None = None, run: Run | None = None
    ) -> None:
        super().__init__(code.value)
        self.code = code
        self.turn = turn
        self.run = run


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """What is asked for; `key` makes a second press of the same form the same turn.

    `continue_copy` says that an operator wants to go on in a copy of a foreign
    conversation; it is remembered.
    """

    text: str
    key: str
    operator: User | None = None
    continue_copy: bool = False


def queue_turn(conversation: Conversation, request: TurnRequest) -> Turn:
    """Store the operator's message and queue its turn; sends nothing to a worker.

    Raises TurnRefused. The same key again returns the turn that it made.
    """
    known = Turn.objects.filter(idempotency_key=request.key).first()
    if known is not None:
        return known
    _check(conversation, request)
    try:
        with transaction.atomic():
            return _queue(conversation, request)
    except IntegrityError:
        known = Turn.objects.filter(idempotency_key=request.key).first()
        if known is not None:
            return known
        _refuse_when_busy(conversation)
        raise


def _check(conversation: Conversation, request: TurnRequest) -> None:
    if not request.text.strip():
        raise TurnRefused(TurnRefusal.BLANK)
    if len(request.text) > TEXT_CHARS:
        raise TurnRefused(TurnRefusal.TOO_LONG)
    if is_copy(conversation) and not (
        conversation.may_continue or request.continue_copy
    ):
        raise TurnRefused(TurnRefusal.IMPORTED)
    if not wiring.turn_endpoints():
        raise TurnRefused(TurnRefusal.NO_ENDPOINT)


def _queue(conversation: Conversation, request: TurnRequest) -> Turn:
    session = lock_tip(conversation)
    _refuse_when_busy(session.conversation)
    now = timezone.now()
    if request.continue_copy and not session.conversation.may_continue:
        _own(session.conversation, request.operator)
    turn = Turn.objects.create(
        conversation=session.conversation,
        session=session,
        idempotency_key=request.key[:128],
        requested_by=request.operator,
        text=readable(request.text),
        queued_at=now,
        sent_at=now,
    )
    _store_message(session, turn)
    change = Change(target=f"turn:{turn.pk}")
    record_action(request.operator, "send_message", session, change=change)
    return turn


def lock_tip(conversation: Conversation) -> Session:
    """Lock the session in which the conversation goes on; raises TurnRefused."""
    rows = Session.objects.select_for_update(of=("self",))
    for _ in range(3):
        tip_id = Conversation.objects.get(pk=conversation.pk).tip_id
        if tip_id is None:
            break
        session = rows.select_related("conversation").get(pk=tip_id)
        if session.conversation.tip_id == session.pk and not continuation_of(session):
            return session
    raise TurnRefused(TurnRefusal.NO_SESSION)


def _refuse_when_busy(conversation: Conversation) -> None:
    turn = active_turn(conversation)
    if turn is not None:
        raise TurnRefused(TurnRefusal.BUSY, turn=turn)
    runs = Run.objects.filter(session__conversation=conversation)
    run = runs.filter(status__in=ACTIVE).first()
    if run is not None:
        raise TurnRefused(TurnRefusal.COMPACTING, run=run)


def active_turn(conversation: Conversation) -> Turn | None:
    """Return the turn that is queued or in progress, if there is one."""
    return Turn.objects.filter(conversation=conversation, status__in=ACTIVE).first()


def _own(conversation: Conversation, operator: User | None) -> None:
    conversation.may_continue = True
    conversation.save(update_fields=["may_continue"])
    record_action(operator, "continue_copy", conversation)


def _store_message(session: Session, turn: Turn) -> None:
    """Write the message; calls that a stopped turn left open get a result first."""
    stubs = [
        Message(role=Role.TOOL, content=STOPPED, tool_call_id=call.id, kind=Kind.STUB)
        for call in open_calls_at_end(session)
    ]
    said = Message(role=Role.USER, content=turn.text)
    counter = wiring.get_counter(session.model or session.conversation.model)
    new = [NewMessage(message=message, at=turn.queued_at) for message in [*stubs, said]]
    write_messages(session, new, counter=counter)
    session.conversation.active_at = turn.queued_at
    session.conversation.save(update_fields=["active_at"])
    refresh_conversation(session.conversation)


def cancel_turn(turn_id: UUID, *, operator: User | None = None) -> bool:
    """Stop a turn that is queued or in progress; True when this call stopped it.

    The row says so at once. The worker finds its lease gone within a second, also
    while it waits, and writes nothing more; what was stored stays.
    """
    with transaction.atomic():
        active = Turn.objects.filter(pk=turn_id, status__in=ACTIVE)
        stopped = active.update(
            status=Turn.Status.CANCELLED,
            end=TurnEnd.CANCELLED.value,
            lease_until=None,
            wait_until=None,
            finished_at=timezone.now(),
        )
        if not stopped:
            return False
        turn = Turn.objects.select_related("conversation__tip").get(pk=turn_id)
        for run_id in turn.runs.filter(status__in=ACTIVE).values_list("pk", flat=True):
            cancel_run(run_id, operator=operator)
        change = Change(target=f"turn:{turn_id}")
        on = turn.conversation.tip or turn.conversation
        record_action(operator, "stop_turn", on, change=change)
        refresh_conversation(turn.conversation)
    return True
