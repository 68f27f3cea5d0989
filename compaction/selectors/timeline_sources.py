"""Where the events of a Timeline come from: each table, its rows, their moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import DateTimeField, F, Model, Q, QuerySet
from django.db.models.functions import Coalesce

from compaction.models import (
    Cooldown,
    LoopEvent,
    MemoryItem,
    OperatorAction,
    RecoveryEvent,
    Run,
    Session,
    Summary,
    Turn,
)

_ERROR = RecoveryEvent.Kind.ERROR
TOLD_ELSEWHERE = (
    *("compact", "force_compact", "edit_summary", "restore_summary", "send_message"),
    *("edit_memory", "remove_memory"),
)
"""Acts whose run, summary, turn or memory tells who did it, and more."""

COMPACTED = ("compression", "compaction")
"""How sessions end that go on in a next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose events: those of a conversation, or of one of its sessions alone."""

    conversation_id: int
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A table of events: how its rows are found, and when each happened."""

    kind: str
    template: str
    model: type[Model]
    find: Callable[[Scope], QuerySet[Any]]
    at: str

    def rows(self, scope: Scope) -> QuerySet[Any]:
        """Return the rows of a scope, each with its `happened_at`."""
        found: QuerySet[Any] = self.find(scope).annotate(happened_at=F(self.at))
        return found.exclude(happened_at=None)


def _by_session(rows: QuerySet[Any], scope: Scope) -> QuerySet[Any]:
    if scope.session_id:
        return rows.filter(session_id=scope.session_id)
    return rows.filter(session__conversation_id=scope.conversation_id)


def _runs(scope: Scope) -> QuerySet[Any]:
    heavy = ("ledger", "findings", "prompt", "policy", "usage", "error")
    rows = Run.objects.select_related("requested_by").defer(*heavy)
    told_at = Coalesce("finished_at", "queued_at", output_field=DateTimeField())
    return _by_session(rows.annotate(told_at=told_at), scope)


def _turns(scope: Scope) -> QuerySet[Any]:
    told_at = Coalesce("finished_at", "queued_at", output_field=DateTimeField())
    rows = Turn.objects.select_related("requested_by").defer("error")
    return _by_session(rows.annotate(told_at=told_at), scope)


def find_errors(scope: Scope) -> QuerySet[Any]:
    """Return the errors, as rows of RecoveryEvent."""
    return _by_session(RecoveryEvent.objects.filter(kind=_ERROR), scope)


def _moves(scope: Scope) -> QuerySet[Any]:
    return _by_session(RecoveryEvent.objects.exclude(kind=_ERROR), scope)


def _cooldowns(scope: Scope) -> QuerySet[Any]:
    return Cooldown.objects.filter(conversation_id=scope.conversation_id)


def _cooldowns_over(scope: Scope) -> QuerySet[Any]:
    """Cooldowns that nobody cleared: an operator's act tells of itself."""
    return _cooldowns(scope).exclude(cleared_why="operator")


def _acts(scope: Scope) -> QuerySet[Any]:
    rows = OperatorAction.objects.exclude(verb__in=TOLD_ELSEWHERE)
    rows = rows.defer("before", "after", "seal", "previous_seal")
    if scope.session_id:
        here = Q(session_id=scope.session_id) | Q(session=None)
        return rows.filter(here, conversation_id=scope.conversation_id)
    return rows.filter(conversation_id=scope.conversation_id)


def _sessions(scope: Scope) -> QuerySet[Any]:
    rows = Session.objects.defer("system_prompt", "tools")
    if scope.session_id:
        return rows.filter(pk=scope.session_id)
    return rows.filter(conversation_id=scope.conversation_id)


def _ended(scope: Scope) -> QuerySet[Any]:
    """Sessions that ended for good; of a compacted one the next one's start tells."""
    return _sessions(scope).exclude(end_reason__in=COMPACTED)


def _edits(scope: Scope) -> QuerySet[Any]:
    """Summaries that people wrote: a run or an import tells of the others."""
    rows = Summary.objects.select_related("author").defer("text", "sections")
    by_people = (Summary.Origin.EDITED, Summary.Origin.RESTORED)
    return _by_session(rows.filter(origin__in=by_people), scope)


def _loops(scope: Scope) -> QuerySet[Any]:
    return _by_session(LoopEvent.objects.all(), scope)


def _memories(scope: Scope) -> QuerySet[Any]:
    rows: QuerySet[Any] = MemoryItem.objects.select_related("author")
    return rows.filter(conversation_id=scope.conversation_id)


SOURCES: Sequence[Source] = (
    Source("run", "run", Run, _runs, "told_at"),
    Source("error", "error", RecoveryEvent, find_errors, "at"),
    Source("recovery", "move", RecoveryEvent, _moves, "at"),
    Source("turn", "turn", Turn, _turns, "told_at"),
    Source("memory", "memory", MemoryItem, _memories, "at"),
    Source("cooldown", "cooldown", Cooldown, _cooldowns, "started_at"),
    Source("cooldown", "cooldown_over", Cooldown, _cooldowns_over, "cleared_at"),
    Source("operator", "act", OperatorAction, _acts, "at"),
    Source("session", "session_end", Session, _ended, "ended_at"),
    Source("session", "session_start", Session, _sessions, "started_at"),
    Source("summary", "summary", Summary, _edits, "created_at"),
    Source("loop", "loop", LoopEvent, _loops, "at"),
)
