"""What a foreign log knows beside its messages: TaskState and cooldown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from compaction.engine.task_state import TaskState, Todo, TodoStatus
from compaction.models import Conversation, Cooldown, TaskStateVersion
from compaction.services.task_states import (
    GOAL_CHARS,
    SUBJECT_CHARS,
    TODOS,
    change_by_agent,
)
from compaction.sources.values import SourceConversation, SourceCooldown
from compaction.store import readable
from compaction.store.task_states import newest_task_version, todos_to_json

IMPORTED = "imported"
"""Reason of a cooldown that the foreign agent is in, whatever its own reason was."""

_LADDER = (60, 300, 900)  # seconds by consecutive failures, DESIGN §4


def write_task_state(conversation: Conversation, source: SourceConversation) -> bool:
    """Take over goal and todos; False when an operator's version was kept instead.

    The agent's state of the last import is the newest version it wrote: only when the
    log differs from that is there something to take over.
    """
    state = task_state_of(source)
    if _written_by_agent(conversation) == (state.goal, todos_to_json(state.todos)):
        return True
    newest = newest_task_version(conversation)
    if newest.version and not newest.by_agent:
        return newest.state == state
    change_by_agent(conversation, lambda _: state)
    return True


def _written_by_agent(conversation: Conversation) -> tuple[str, list[Any]]:
    rows = TaskStateVersion.objects.filter(
        task_state__conversation=conversation, by_agent=True
    )
    newest = rows.order_by("-version").first()
    return (newest.goal, newest.todos) if newest else ("", [])


def task_state_of(source: SourceConversation) -> TaskState:
    """Return the log's goal and todos, cut to what we keep."""
    return TaskState(
        goal=readable(source.task_goal.strip()[:GOAL_CHARS]),
        todos=tuple(_todos(source.todos)),
    )


def _todos(items: Iterable[Mapping[str, Any]]) -> Iterable[Todo]:
    taken: set[str] = set()
    for number, item in enumerate(items, 1):
        subject = readable(str(item.get("subject") or "").strip()[:SUBJECT_CHARS])
        if not subject or len(taken) == TODOS:
            continue
        key = readable(str(item.get("id") or number))[:64]
        while key in taken:
            key = f"{key[:56]}-{len(taken)}"
        taken.add(key)
        yield Todo(id=key, subject=subject, status=_status(item.get("status")))


def _status(raw: object) -> TodoStatus:
    known = {status.value: status for status in TodoStatus}
    return known.get(str(raw), TodoStatus.PENDING)


def write_cooldown(
    conversation: Conversation, source: SourceConversation, *, now: datetime
) -> None:
    """Let our cooldown be the foreign agent's, and end it when that agent's ended."""
    tip = source.sessions[-1] if source.sessions else None
    foreign = tip.cooldown if tip else None
    rows = Cooldown.objects.filter(conversation=conversation, reason=IMPORTED)
    _gone(rows, foreign, now=now).update(cleared_at=now, cleared_why="source")
    if foreign is not None and not rows.filter(until=foreign.until).exists():
        _start(conversation, foreign)


def _gone(
    rows: QuerySet[Cooldown], foreign: SourceCooldown | None, *, now: datetime
) -> QuerySet[Cooldown]:
    """Cooldowns we still show, but the agent is no longer in."""
    active = rows.filter(cleared_at=None, until__gt=now)
    return active.exclude(until=foreign.until) if foreign else active


def _start(conversation: Conversation, foreign: SourceCooldown) -> None:
    failures = min(max(1, foreign.failures), 1_000)
    seconds = _LADDER[min(failures, len(_LADDER)) - 1]
    Cooldown.objects.create(
        conversation=conversation,
        started_at=foreign.until - timedelta(seconds=seconds),
        until=foreign.until,
        seconds=seconds,
        failures=failures,
        reason=IMPORTED,
        error=readable(foreign.error[:2_000]),
    )


def has_cooldown_changed(
    conversation: Conversation, source: SourceConversation, *, now: datetime
) -> bool:
    """True when `write_cooldown` would write."""
    tip = source.sessions[-1] if source.sessions else None
    foreign = tip.cooldown if tip else None
    rows = Cooldown.objects.filter(conversation=conversation, reason=IMPORTED)
    if foreign is not None and not rows.filter(until=foreign.until).exists():
        return True
    return _gone(rows, foreign, now=now).exists()


def has_task_state_changed(
    conversation: Conversation, source: SourceConversation
) -> bool:
    """True when `write_task_state` would write."""
    state = task_state_of(source)
    theirs = (state.goal, todos_to_json(state.todos))
    newest = newest_task_version(conversation)
    is_ours = bool(newest.version) and not newest.by_agent
    return _written_by_agent(conversation) != theirs and not is_ours
