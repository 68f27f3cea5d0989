"""Cooldowns of a conversation: no automatic summary call until one is over.

A rung of the ladder is a row. It is bound to the conversation, so it outlives a change
of session and never reaches another conversation (hermes#15547).
"""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from compaction.models import Conversation, Cooldown, Run
from compaction.services.audit import Change, record_action
from compaction.services.conversations import refresh_conversation

SUCCESS = "success"
OPERATOR = "operator"


def active_cooldown(conversation: Conversation) -> Cooldown | None:
    """Return the cooldown that is on at this moment and ends last, or None."""
    on = Cooldown.objects.filter(
        conversation=conversation, cleared_at=None, until__gt=timezone.now()
    )
    return on.order_by("-until").first()


def count_failures(conversation: Conversation) -> int:
    """Return how many summaries failed in a row since the last that was good.

    A cooldown that is over still counts: the ladder goes on where it was.
    """
    newest = _uncleared(conversation).order_by("-started_at", "-pk").first()
    return newest.failures if newest else 0


def start_cooldown(
    conversation: Conversation,
    *,
    seconds: float,
    reason: str,
    error: str = "",
    run: Run | None = None,
) -> Cooldown:
    """Start the next rung; `reason` is a code, `error` redacted, `run` its cause."""
    now = timezone.now()
    return Cooldown.objects.create(
        conversation=conversation,
        run=run,
        started_at=now,
        until=now + timedelta(seconds=seconds),
        seconds=round(seconds),
        failures=count_failures(conversation) + 1,
        reason=reason[:64],
        error=error,
    )


def end_cooldowns(conversation: Conversation, *, why: str) -> int:
    """Clear every rung, so that the next failure begins at the foot of the ladder."""
    return _uncleared(conversation).update(cleared_at=timezone.now(), cleared_why=why)


def clear_cooldown(
    conversation: Conversation, operator: User | None, *, reason: str = ""
) -> bool:
    """Let an operator end a cooldown; False when none was on."""
    with transaction.atomic():
        cooldown = active_cooldown(conversation)
        if cooldown is None:
            return False
        end_cooldowns(conversation, why=OPERATOR)
        change = Change(reason=reason, before=_to_json(cooldown))
        record_action(operator, "clear_cooldown", conversation, change=change)
        refresh_conversation(conversation)
    return True


def _to_json(cooldown: Cooldown) -> dict[str, object]:
    return {
        "until": cooldown.until.isoformat(),
        "reason": cooldown.reason,
        "failures": cooldown.failures,
    }


def _uncleared(conversation: Conversation) -> QuerySet[Cooldown]:
    return Cooldown.objects.filter(conversation=conversation, cleared_at=None)
