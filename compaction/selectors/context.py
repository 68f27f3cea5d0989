"""The frame of a session's pages: where it stands, and what each tab holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, IntegerField, Model, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from compaction.models import (
    Conversation,
    Cooldown,
    OperatorAction,
    RecoveryEvent,
    Run,
    Session,
    Summary,
    Todo,
)
from compaction.store import is_copy

_HEAVY = (
    *("system_prompt", "tools", "conversation__memory"),
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
    events: int
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHeader:
    """Where a session stands.

    `is_tip` is False for a generation that was compacted or undone; `state` is the
    word of its state (in_progress, stuck, cooldown, over_threshold, idle, ended);
    `last_run` the newest run that ended; `is_copy`: the agent's own one is elsewhere.
    """

    session: Session
    conversation: Conversation
    is_tip: bool
    is_copy: bool
    state: str
    cooldown: Cooldown | None
    active_run: Run | None
    last_run: Run | None
    counts: TabCounts


def find_session(session_id: str) -> Session | None:
    """Return a session with its conversation, without what is large; or None."""
    found = Session.objects.select_related("conversation__profile", "conversation__tip")
    light = found.defer(
        *_HEAVY, "conversation__tip__system_prompt", "conversation__tip__tools"
    )
    return light.filter(pk=session_id).first()


def living_tip_of(session: Session) -> Session:
    """Return the session that goes on where this one was compacted, or itself.

    Branches have tips of their own. One query, whatever the length of the chain.
    """
    sessions = Session.objects.filter(conversation=session.conversation_id)
    links = sessions.filter(undone=False, link__in=_CONTINUES).values_list(
        "parent_id", "pk"
    )
    following = {parent: pk for parent, pk in links if parent}
    here = session.pk
    while here in following:
        here = following.pop(here)
    return session if here == session.pk else Session.objects.get(pk=here)


_CONTINUES = (Session.Link.COMPACTION, Session.Link.IN_PLACE)


def has_continuation(session: Session) -> bool:
    """True when the session was compacted: it goes on in a child."""
    children = Session.objects.filter(parent=session, undone=False)
    return children.filter(link__in=_CONTINUES).exists()


def session_header(session: Session, now: datetime) -> SessionHeader:
    """Return what the head of every page of a session says; six queries."""
    conversation = session.conversation
    is_tip = not session.undone and not has_continuation(session)
    active = _active_run(session)
    cooldown = _cooldown(conversation, now)
    return SessionHeader(
        session=session,
        conversation=conversation,
        is_tip=is_tip,
        is_copy=is_copy(conversation),
        state=_state_of(session, is_tip=is_tip, active=active, cooldown=cooldown),
        cooldown=cooldown,
        active_run=active,
        last_run=_last_run(conversation),
        counts=_count_tabs(conversation),
    )


def _active_run(session: Session) -> Run | None:
    runs = Run.objects.filter(session=session, status__in=_ACTIVE)
    return runs.defer(*_LARGE_OF_RUN).first()


def _last_run(conversation: Conversation) -> Run | None:
    runs = Run.objects.filter(session__conversation=conversation)
    ended = runs.filter(finished_at__isnull=False).defer(*_LARGE_OF_RUN)
    return ended.order_by("-queued_at", "-pk").first()


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
    """Count everything in one query."""
    by_session = "session__conversation"
    ended = Q(status__in=[Todo.Status.COMPLETED, Todo.Status.CANCELLED])
    counts = {
        "summaries": _count(Summary, by_session),
        "todos_all": _count(Todo, "task_state__conversation"),
        "todos_done": _count(Todo, "task_state__conversation", ended),
        "runs_all": _count(Run, by_session),
        "faults": _count(RecoveryEvent, by_session),
        "rungs": _count(Cooldown, "conversation"),
        "acts": _count(OperatorAction, "conversation"),
        "generations": _count(Session, "conversation"),
    }
    row = (
        Conversation.objects.filter(pk=conversation.pk)
        .annotate(**counts)
        .values(*counts)
        .get()
    )
    return TabCounts(
        summaries=row["summaries"],
        todos=row["todos_all"],
        todos_done=row["todos_done"],
        events=sum(row[name] for name in ("runs_all", "faults", "rungs", "acts")),
        sessions=row["generations"],
    )


def _count(model: type[Model], path: str, only: Q | None = None) -> Coalesce:
    """Count the rows that lead to the outer conversation by `path`."""
    rows = model._default_manager.filter(only or Q(), **{path: OuterRef("pk")})
    counted = rows.order_by().values(path).annotate(rows=Count("pk")).values("rows")
    return Coalesce(Subquery(counted), 0, output_field=IntegerField())
