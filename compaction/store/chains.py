"""The sessions that led to one, oldest first, for what is followed over them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from compaction.engine.evidence.chain import Generation
from compaction.engine.messages import Kind, Message as EngineMessage, Role
from compaction.engine.repetition import Step, Stretch
from compaction.engine.task_state import render
from compaction.models import Message, Session, Summary, TaskStateVersion
from compaction.store.message_rows import read_body
from compaction.store.task_states import state_of_version

_CONTINUES = (Session.Link.COMPACTION, Session.Link.IN_PLACE)
_RULES = 1  # grows when the engine finds other lives in the same messages


def chain_to(session: Session) -> tuple[Session, ...]:
    """Return the generations up to a session, oldest first; a branch begins its own."""
    rows = Session.objects.filter(conversation_id=session.conversation_id)
    by_id = {row.pk: row for row in rows.defer("system_prompt", "tools")}
    chain: list[Session] = []
    here = by_id.get(session.pk)
    while here is not None and here not in chain:
        chain.append(here)
        goes_on = here.link in _CONTINUES
        here = by_id.get(here.parent_id or "") if goes_on else None
    return tuple(reversed(chain))


def mark_of(chain: Sequence[Session]) -> str:
    """Return a name that changes whenever the lives of the chain's evidence may."""
    versions = TaskStateVersion.objects.filter(
        task_state__conversation_id=chain[-1].conversation_id
    )
    told = [(row.pk, row.revision, row.message_count) for row in chain]
    state = (_RULES, told, versions.count())
    return hashlib.blake2b(repr(state).encode(), digest_size=16).hexdigest()


# --- with bodies -------------------------------------------------------------
def load_generations(chain: Sequence[Session]) -> list[Generation]:
    """Read all messages of a chain with their bodies, and the TaskStates."""
    messages, origins = _read_messages(chain)
    return [
        Generation(
            key=session.pk,
            messages=messages[session.pk],
            origins=origins[session.pk],
            task=task,
        )
        for session, task in zip(chain, _tasks(chain), strict=True)
    ]


_BODIES = ("session_id", "body", "pinned", "dropped", "inactive")
_ORIGIN = ("origin_session_id", "origin_position")


def _read_messages(
    chain: Sequence[Session],
) -> tuple[dict[str, list[EngineMessage]], dict[str, list[int | None]]]:
    """Read messages and origins of each session; one query."""
    parents = {session.pk: session.parent_id for session in chain}
    messages: dict[str, list[EngineMessage]] = {pk: [] for pk in parents}
    origins: dict[str, list[int | None]] = {pk: [] for pk in parents}
    rows = Message.objects.filter(session_id__in=parents).order_by(
        "session_id", "position"
    )
    columns = rows.values_list(*_BODIES, *_ORIGIN).iterator(chunk_size=2000)
    for pk, body, pinned, dropped, inactive, origin, position in columns:
        message = read_body(
            body, pinned=pinned and not inactive, dropped=dropped or inactive
        )
        messages[pk].append(message)
        origins[pk].append(position if origin and origin == parents[pk] else None)
    return messages, origins


def _tasks(chain: Sequence[Session]) -> list[str]:
    """Return for each session the TaskState as it stood when the next one began."""
    rows = TaskStateVersion.objects.filter(
        task_state__conversation_id=chain[-1].conversation_id
    )
    versions = list(rows.order_by("version"))
    ends: list[datetime | None] = [later.started_at for later in chain[1:]]
    return [_task_at(versions, end) for end in [*ends, None]]


def _task_at(versions: Sequence[TaskStateVersion], end: datetime | None) -> str:
    known = [row for row in versions if end is None or row.created_at <= end]
    return render(state_of_version(known[-1])) if known else ""


# --- numbers and names alone -------------------------------------------------
_COLUMNS = (
    *("role", "kind", "calls", "tool_call_id", "digest", "inactive"),
    *("origin_session_id", "origin_position"),
)


def load_stretches(chain: Sequence[Session]) -> list[Stretch]:
    """Read a chain as far as loops show in it: columns, no body."""
    summaries = _first_summaries(session.pk for session in chain)
    return [
        Stretch(steps=_steps(session), summary=summaries.get(session.pk, ""))
        for session in chain
    ]


def _steps(session: Session) -> list[Step]:
    rows = Message.objects.filter(session=session).order_by("position")
    return [
        _step(columns, session.parent_id or "")
        for columns in rows.values_list(*_COLUMNS).iterator(chunk_size=2000)
    ]


def _step(columns: Sequence[Any], parent: str) -> Step:
    role, kind, calls, answers, digest, inactive, origin, position = columns
    return Step(
        role=Role(role),
        kind=Kind(kind),
        calls=() if inactive else tuple((c[0], c[1], c[2]) for c in calls),
        answers=answers,
        digest=digest,
        origin=position if origin and origin == parent else None,
    )


def _first_summaries(ids: Iterable[str]) -> Mapping[str, str]:
    """Return the summary that each session began with: what its run wrote."""
    rows = Summary.objects.filter(session_id__in=list(ids)).order_by("-revision")
    return dict(rows.values_list("session_id", "text"))
