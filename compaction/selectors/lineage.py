"""The lineage of a conversation: its generations, and what branched off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, Sum

from compaction.models import Conversation, Message, Run, Session

MAX_SESSIONS = 500
"""Sessions that one page shows: the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One session of the tree.

    `tokens_before` is what the parent held when it was compacted, `tokens_at_start`
    what the session opened with; both None where nobody knows. `is_elsewhere`: it
    belongs to another conversation, which branched off this one.
    """

    id: str
    parent_id: str | None
    link: str
    undone: bool
    title: str
    url: str
    generation: int
    message_count: int
    tokens: int
    tokens_origin: str
    tokens_before: int | None
    tokens_at_start: int | None
    started_at: datetime
    end_reason: str
    is_tip: bool
    is_elsewhere: bool
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Tokens at one moment of a conversation (charts.lines.Reading)."""

    tokens: int
    compacted: bool
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """All generations, parents first, and the tokens of the chain to the tip."""

    generations: tuple[Generation, ...]
    readings: tuple[Reading, ...]
    is_cut: bool


def lineage_of(conversation: Conversation) -> Lineage:
    """Return the tree of a conversation; four queries, no message is read."""
    found = _sessions(conversation)
    sessions = found[:MAX_SESSIONS]
    sessions.sort(key=lambda session: (session.generation, session.started_at))
    runs = _runs_into([session.pk for session in sessions])
    starts = _starts(session.pk for session in sessions if session.pk not in runs)
    ends = {session.pk: session.tokens for session in sessions}
    generations = tuple(
        _generation(session, conversation, runs=runs, starts=starts, ends=ends)
        for session in sessions
    )
    return Lineage(
        generations=generations,
        readings=tuple(_readings(generations, conversation.tip_id)),
        is_cut=len(found) > MAX_SESSIONS,
    )


def _sessions(conversation: Conversation) -> list[Session]:
    """Return the conversation's sessions and the first ones of its branches."""
    own = Q(conversation=conversation)
    branch = Q(parent__conversation=conversation, link=Session.Link.BRANCH)
    found = Session.objects.filter(own | branch).defer("system_prompt", "tools")
    return list(found.order_by("-started_at", "-pk")[: MAX_SESSIONS + 1])


def _runs_into(ids: Sequence[str]) -> Mapping[str, Run]:
    runs = Run.objects.filter(result_session_id__in=ids)
    light = runs.only("pk", "result_session_id", "tokens_before", "tokens_after")
    return {run.result_session_id or "": run for run in light}


def _starts(ids: Iterable[str]) -> Mapping[str, int]:
    """Tokens that sessions took over from their parents, summary included."""
    taken = Q(origin_position__isnull=False) | Q(kind="summary")
    rows = Message.objects.filter(taken, session_id__in=list(ids), inactive=False)
    sums = rows.order_by().values_list("session_id").annotate(sum=Sum("tokens"))
    return dict(sums)


def _generation(
    session: Session,
    conversation: Conversation,
    *,
    runs: Mapping[str, Run],
    starts: Mapping[str, int],
    ends: Mapping[str, int],
) -> Generation:
    run = runs.get(session.pk)
    follows = session.link in (Session.Link.COMPACTION, Session.Link.IN_PLACE)
    before = ends.get(session.parent_id or "") if follows else None
    return Generation(
        id=session.pk,
        parent_id=session.parent_id,
        link=session.link,
        undone=session.undone,
        title=session.title or conversation.title or session.pk,
        url="",
        generation=session.generation,
        message_count=session.message_count,
        tokens=session.tokens,
        tokens_origin=session.tokens_origin,
        tokens_before=run.tokens_before if run else before,
        tokens_at_start=run.tokens_after if run else starts.get(session.pk),
        started_at=session.started_at,
        end_reason=session.end_reason,
        is_tip=session.pk == conversation.tip_id,
        is_elsewhere=session.conversation_id != conversation.pk,
        run_id=str(run.pk) if run else "",
    )


def _readings(
    generations: Sequence[Generation], tip_id: str | None
) -> Iterable[Reading]:
    """Up with every message, down with every compaction, along the chain to the tip."""
    for number, session in enumerate(_chain(generations, tip_id)):
        start = session.tokens_at_start if number else 0
        label = str(session.generation)
        if start is not None:
            yield Reading(tokens=start, compacted=number > 0, label=label)
        yield Reading(
            tokens=session.tokens, compacted=start is None and number > 0, label=label
        )


def _chain(generations: Sequence[Generation], tip_id: str | None) -> list[Generation]:
    by_id = {session.id: session for session in generations}
    chain: list[Generation] = []
    here = by_id.get(tip_id or "")
    while here is not None and here not in chain:
        chain.append(here)
        here = by_id.get(here.parent_id or "")
    return chain[::-1]
