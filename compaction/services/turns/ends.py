"""How a turn ends: what its row says, and what the conversation keeps of it."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from compaction.engine.turn import TurnEnd, TurnResult
from compaction.models import Conversation, Session, Turn
from compaction.services.conversations import refresh_conversation
from compaction.services.leases import Lease
from compaction.services.recovery_events import clean
from compaction.store.endpoint_states import endpoint_state_to_json

NO_ENDPOINT = "no_endpoint"


def finish_turn(lease: Lease, result: TurnResult | None, session: Session) -> None:
    """Write how a turn ended; None: its last answer was stored by a dead worker.

    Raises LeaseLost, and then nothing has changed.
    """
    with transaction.atomic():
        columns = _columns(result) if result else {}
        end = result.end if result else TurnEnd.COMPLETED
        is_good = end is TurnEnd.COMPLETED
        lease.finish(
            status=Turn.Status.COMPLETED if is_good else Turn.Status.FAILED,
            end=end.value,
            wait_until=None,
            finished_at=timezone.now(),
            **columns,
        )
        conversation = Conversation.objects.select_related("tip", "profile").get(
            pk=session.conversation_id
        )
        if result is not None:
            _keep_endpoints(conversation, result)
        refresh_conversation(conversation)


def _columns(result: TurnResult) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "window": result.window,
        "endpoint": result.endpoints.name[:128],
    }
    error = result.error
    if result.end is not TurnEnd.COMPLETED and error is not None:
        decision = result.decision
        columns |= {
            "reason": decision.reason.value if decision else "",
            "error": clean(f"{error}\n{error.body}"),
            "error_status": error.status,
        }
    return columns


def _keep_endpoints(conversation: Conversation, result: TurnResult) -> None:
    conversation.endpoint_state = endpoint_state_to_json(
        conversation,
        result.endpoints,
        window=result.window,
        declared=conversation.window,
    )
    conversation.save(update_fields=["endpoint_state"])


def give_up_turn(lease: Lease, *, reason: str, error: Exception | None = None) -> None:
    """Finish a turn as failed without a result; all that was stored stays."""
    with transaction.atomic():
        lease.finish(
            status=Turn.Status.FAILED,
            end=reason,
            reason=reason,
            error=clean(f"{type(error).__name__}: {error}") if error else "",
            wait_until=None,
            finished_at=timezone.now(),
        )
        turn = Turn.objects.select_related("conversation__tip").get(pk=lease.pk)
        refresh_conversation(turn.conversation)
