"""The frame of a session's pages: where it stands, and what each tab holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Exists, Model, OuterRef

from compaction.models import (
    Conversation,
    Cooldown,
    LoopEvent,
    MemoryItem,
    OperatorAction,
    RecoveryEvent,
    Run,
    Session,
    Summary,
    TaskState,
    Todo,
    Turn,
)
from compaction.selectors.timeline_sources import COMPACTED, TOLD_ELSEWHERE
from compaction.store import is_copy

_HEAVY = (
    *("system_prompt", "tools", "conversation__endpoint_state"),
    *("conversation__import_notes",),
)
_ACTIVE = (Run.Status.QUEUED, Run.Status.IN_PROGRESS)
_LARGE_OF_RUN = ("ledger", "findings", "prompt", "policy", "usage")


@dataclass(frozen=True, slots=True, kw_only=True)
class TabCounts:
    """What stands beside the name of a tab."""

    summaries: int
    todos: int
    todos_done: int
    runs: int
    faults: int
    cooldowns: int
    sessions: int
    loops: int
    turns: int
    active_turns: int
    memories: int
    other_events: int

    @property
    def events(self) -> int:
        """What the Timeline holds, see selectors.timeline; a test keeps them alike."""
        happened = self.runs + self.faults + self.cooldowns + self.turns + self.loops
        return happened + self.sessions + self.other_events


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHeader:
    """Where a session stands.

    `is_tip` is False for a generation that was compacted or undone; `state` is the
    word of its state (in_progress, stuck, cooldown, over_threshold, idle, ended);
    `is_copy`: the agent's own conversation is elsewhere.
    """

    session: Session
    conversation: Conversation
    is_tip: bool
    is_copy: bool
    state: str
    cooldown: Cooldown | None
    active_run: Run | None
    counts: TabCounts

    @property
    def has_active_turn(self) -> bool:
        """True while the agent is at work."""
        return bool(self.counts.active_turns)


_CONTINUING: dict[str, Any] = {
    "undone": False,
    "link__in": [Session.Link.COMPACTION, Session.Link.IN_PLACE],
}

# Built once: every page of a session asks it, and building costs more than asking.
_SESSIONS = (
    Session.objects.select_related("conversation__profile")
    .defer(*_HEAVY)
    .annotate(
        goes_on=Exists(Session.objects.filter(parent=OuterRef("pk"), **_CONTINUING))
    )
)


def find_session(session_id: str) -> Session | None:
    """Return a session with its conversation, without what is large; or None."""
    return _SESSIONS.filter(pk=session_id).first()


def has_continuation(session: Session) -> bool:
    """True when the session was compacted: it goes on in a child."""
    known = getattr(session, "goes_on", None)  # find_session has asked already
    if known is not None:
        return bool(known)
    return Session.objects.filter(parent=session, **_CONTINUING).exists()


def living_tip_of(session: Session) -> Session:
    """Return the session that goes on where this one was compacted, or itself.

    Branches have tips of their own. One query, whatever the length of the chain.
    """
    sessions = Session.objects.filter(conversation=session.conversation_id)
    links = sessions.filter(**_CONTINUING).values_list("parent_id", "pk")
    following = {parent: pk for parent, pk in links if parent}
    here = session.pk
    while here in following:
        here = following.pop(here)
    return session if here == session.pk else Session.objects.get(pk=here)


def session_header(session: Session, now: datetime) -> SessionHeader:
    """Return what the head of every page of a session says; at most three queries."""
    conversation = session.conversation
    counts = _count_tabs(conversation)
    is_tip = not session.undone and not has_continuation(session)
    active = _active_run(session) if counts.runs else None
    cooldown = _cooldown(conversation, now) if counts.cooldowns else None
    return SessionHeader(
        session=session,
        conversation=conversation,
        is_tip=is_tip,
        is_copy=is_copy(conversation),
        state=_state_of(session, is_tip=is_tip, active=active, cooldown=cooldown),
        cooldown=cooldown,
        active_run=active,
        counts=counts,
    )


_RUNS = Run.objects.filter(status__in=_ACTIVE).defer(*_LARGE_OF_RUN)


def _active_run(session: Session) -> Run | None:
    return _RUNS.filter(session=session).first()


def _cooldown(conversation: Conversation, now: datetime) -> Cooldown | None:
    running = conversation.cooldowns.filter(until__gt=now, cleared_at=None)
    return running.order_by("-until").first()


def _state_of(
    session: Session, *, is_tip: bool, active: Run | None, cooldown: Cooldown | None
) -> str:
    if active is not None:
        return "in_progress"
    if not is_tip:
        return "ended"
    state = session.conversation.state
    if cooldown is not None and state != Conversation.State.STUCK:
        return "cooldown"
    return state


def _count_tabs(conversation: Conversation) -> TabCounts:
    """Count everything in one query, written out: the ORM takes longer to write it."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, [conversation.pk] * _COUNTS.count("%s"))
        counts = dict(zip(_COUNTED, cursor.fetchone(), strict=True))
    return TabCounts(**counts)


def _table(model: type[Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def _by_session(model: type[Model]) -> str:
    return (
        f"(SELECT COUNT(*) FROM {_table(model)} x JOIN {_table(Session)} s "
        "ON s.id = x.session_id WHERE s.conversation_id = %s)"
    )


def _by_conversation(model: type[Model]) -> str:
    return f"(SELECT COUNT(*) FROM {_table(model)} WHERE conversation_id = %s)"


def _where(model: type[Model], condition: str) -> str:
    return f"{_by_conversation(model)[:-1]} AND {condition})"


_TODOS = (
    f"(SELECT COUNT(*) FROM {_table(Todo)} x JOIN {_table(TaskState)} s "
    "ON s.id = x.task_state_id WHERE s.conversation_id = %s"
)
_MEMORIES = (
    f"(SELECT COUNT(*) FROM {_table(MemoryItem)} m WHERE conversation_id = %s "
    f"AND NOT removed AND NOT EXISTS (SELECT 1 FROM {_table(MemoryItem)} newer "
    "WHERE newer.conversation_id = m.conversation_id AND newer.item = m.item "
    "AND newer.version > m.version))"
)


def _is_not_in(column: str, values: Iterable[str]) -> str:
    return f"{column} NOT IN ({', '.join(repr(value) for value in values)})"


_OTHER_EVENTS = (
    _where(OperatorAction, _is_not_in("verb", TOLD_ELSEWHERE)),
    _where(Cooldown, "cleared_at IS NOT NULL AND cleared_why <> 'operator'"),
    _where(Session, f"ended_at IS NOT NULL AND {_is_not_in('end_reason', COMPACTED)}"),
    _by_session(Summary).replace(
        "WHERE ", "WHERE x.origin IN ('edited', 'restored') AND "
    ),
    _by_conversation(MemoryItem),
)
_COUNTED = {
    "summaries": _by_session(Summary),
    "todos": f"{_TODOS})",
    "todos_done": f"{_TODOS} AND x.status IN ('completed', 'cancelled'))",
    "runs": _by_session(Run),
    "faults": _by_session(RecoveryEvent),
    "cooldowns": _by_conversation(Cooldown),
    "sessions": _by_conversation(Session),
    "loops": _by_session(LoopEvent),
    "turns": _by_conversation(Turn),
    "active_turns": _where(Turn, "status IN ('queued', 'in_progress')"),
    "memories": _MEMORIES,
    "other_events": " + ".join(_OTHER_EVENTS),
}
_COUNTS = "SELECT " + ", ".join(_COUNTED.values())
