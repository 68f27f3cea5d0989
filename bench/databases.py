"""Rows for pages: many conversations without messages, and one with many.

Django must be set up before this module is imported (`console.open_console`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import islice

from django.db import transaction

from bench.inputs import SEED, make_prose
from compaction.engine.messages import Message
from compaction.engine.tokens import RoughCounter
from compaction.models import Conversation, Session
from compaction.services.conversations import refresh_conversation
from compaction.store import NewMessage, write_messages

TALK = "20260921_120000_abcdef"
"""The session that has messages."""

_NOON = datetime(2026, 9, 21, 12, 0, tzinfo=UTC)
_BATCH = 5_000
_AGENTS = ("hermes", "claude_code", "codex", "pi")
_MODELS = ("gpt-5", "gpt-5-mini", "claude-sonnet-4-5", "qwen3-coder", "glm-4.7")
_STATES = ("idle", "idle", "idle", "over_threshold", "ended", "stuck")


def write_talk(messages: Iterable[Message]) -> None:
    """Store one conversation with all these messages."""
    dice = random.Random(SEED)
    with transaction.atomic():
        conversation = _conversation(dice, 0, TALK)
        conversation.save(force_insert=True)
        session = _session(conversation)
        session.save(force_insert=True)
        new = (NewMessage(message=message, at=_NOON) for message in messages)
        write_messages(session, new, counter=RoughCounter())
        refresh_conversation(Conversation.objects.get(pk=conversation.pk))


def write_conversations(first: int, end: int) -> None:
    """Store conversations number `first` … `end`-1, each with its tip, no messages."""
    dice = random.Random(SEED + first)
    numbers = iter(range(first, end))
    while batch := list(islice(numbers, _BATCH)):
        made = [
            _conversation(dice, n, f"20260921_1200{n % 60:02}_{n:06x}") for n in batch
        ]
        with transaction.atomic():  # each names the other: checked at the end
            Conversation.objects.bulk_create(made)
            Session.objects.bulk_create(map(_session, made))


def _conversation(dice: random.Random, number: int, tip: str) -> Conversation:
    tokens = dice.randrange(2_000, 190_000)
    system, head = 1_500, min(tokens // 10, 9_000)
    bands = {"system": system, "head": head, "middle": tokens // 2}
    return Conversation(
        pk=number + 1,
        source=dice.choice(_AGENTS),
        external_id=f"external-{number}",
        title=make_prose(dice, 40),
        agent="agent",
        model=dice.choice(_MODELS),
        tip_id=tip,
        active_at=_NOON + timedelta(seconds=number),
        state=dice.choice(_STATES),
        session_count=dice.randint(1, 4),
        run_count=dice.randint(0, 3),
        message_count=dice.randrange(20, 4_000),
        tokens=tokens,
        threshold=100_000,
        fill=tokens / 200_000,
        bands=bands | {"tail": max(0, tokens - sum(bands.values()))},
    )


def _session(conversation: Conversation) -> Session:
    return Session(
        id=str(conversation.tip_id),
        conversation=conversation,
        title=conversation.title,
        started_at=conversation.active_at,
        tokens=conversation.tokens,
    )
