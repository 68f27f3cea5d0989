"""Builders of runs and of what surrounds them; every value can be given by name."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from compaction.engine.policy_values import policy_to_dict
from compaction.engine.presets import DEFAULT
from compaction.models import Conversation, Cooldown, RecoveryEvent, Run, Session
from tests.web.rows import a_conversation

_numbers = count(1)
HOSTILE = "<script>alert(1)</script>\u202egnp.exe <|endoftext|>"


def a_session(**values: Any) -> Session:
    """Store a conversation and return its session."""
    session = a_conversation(**values).tip
    assert session is not None
    return session


def a_run(session: Session | None = None, **values: Any) -> Run:
    """Store a run; queued just now unless told otherwise."""
    number = next(_numbers)
    now = timezone.now()
    defaults = {
        "session": session or a_session(),
        "idempotency_key": f"test-{number}",
        "trigger": "manual",
        "session_revision": 1,
        "policy": policy_to_dict(DEFAULT),
        "messages_before": 40,
        "tokens_before": 120_000,
        "tokens_origin": "tiktoken",
        "queued_at": now,
    }
    return Run.objects.create(**{**defaults, **values})


def an_ended_run(session: Session | None = None, **values: Any) -> Run:
    """Store a run that ended a minute ago; completed unless told otherwise."""
    now = timezone.now()
    defaults = {
        "status": "completed",
        "outcome": "summarised",
        "queued_at": now - timedelta(seconds=75),
        "started_at": now - timedelta(seconds=74),
        "finished_at": now - timedelta(seconds=60),
        "attempt": 1,
        "messages_after": 12,
        "messages_summarised": 29,
        "messages_pruned": 4,
        "tokens_after": 30_000,
        "phase": "saving",
    }
    return a_run(session, **{**defaults, **values})


def a_failed_run(
    session: Session | None = None, reason: str = "rate_limit", **values: Any
) -> Run:
    """Store a run whose summary failed."""
    defaults = {
        "status": "failed",
        "outcome": "aborted",
        "reason": reason,
        "phase": "summarising",
        "messages_after": None,
        "tokens_after": None,
        "messages_summarised": 0,
        "messages_pruned": 0,
    }
    return an_ended_run(session, **{**defaults, **values})


def a_cooldown(conversation: Conversation, **values: Any) -> Cooldown:
    """Store a cooldown that is on for four more minutes."""
    now = timezone.now()
    defaults = {
        "conversation": conversation,
        "started_at": now - timedelta(seconds=60),
        "until": now + timedelta(seconds=240),
        "seconds": 300,
        "failures": 2,
        "reason": "rate_limit",
        "error": "Too many requests",
    }
    return Cooldown.objects.create(**{**defaults, **values})


def a_fault(session: Session, **values: Any) -> RecoveryEvent:
    """Store an error and what was done about it."""
    defaults = {
        "session": session,
        "at": timezone.now(),
        "reason": "rate_limit",
        "status_code": 429,
        "retryable": True,
        "action": "kept_all",
        "attempt": 1,
        "endpoint": "gpt-5-nano",
        "detail": "Too many requests",
    }
    return RecoveryEvent.objects.create(**{**defaults, **values})
