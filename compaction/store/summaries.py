"""Summaries of a conversation: which one is in force, and how one is added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Max
from django.utils import timezone

from compaction.engine.phases.summary_text import parse_sections
from compaction.models import Run, Session, Summary
from compaction.store.texts import readable


def summary_in_force(session: Session) -> Summary | None:
    """Return the newest summary of the session, or of the nearest one before it.

    A session that only shortened old output carries its parent's summary on.
    """
    parents = dict(
        Session.objects.filter(conversation_id=session.conversation_id).values_list(
            "pk", "parent_id"
        )
    )
    line = _line(session.pk, parents)
    found = Summary.objects.filter(session_id__in=line)
    newest = {row.session_id: row for row in found.order_by("revision", "pk")}
    return next((newest[key] for key in line if key in newest), None)


def _line(session_id: str, parents: Mapping[str, str | None]) -> list[str]:
    line: list[str] = []
    here: str | None = session_id
    while here is not None and here not in line:
        line.append(here)
        here = parents.get(here)
    return line


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSummary:
    """A summary to be added: bare text, who wrote it and why."""

    text: str
    origin: Summary.Origin
    tokens: int
    model: str = ""
    run: Run | None = None
    author: User | None = None
    reason: str = ""
    losses: Mapping[str, Any] = field(default_factory=dict)  # store/losses.py
    at: datetime | None = None  # None: now


def add_summary(
    session: Session, new: NewSummary, *, previous: Summary | None
) -> Summary:
    """Add a summary as the newest revision of the session's conversation.

    Call it in a transaction that has locked the conversation: revisions count up.
    """
    of_conversation = Summary.objects.filter(
        session__conversation_id=session.conversation_id
    )
    last = of_conversation.aggregate(last=Max("revision"))["last"] or 0
    text = readable(new.text)
    return Summary.objects.create(
        session=session,
        previous=previous,
        run=new.run,
        revision=last + 1,
        origin=new.origin,
        text=text,
        sections=[[s.path, list(s.items)] for s in parse_sections(text)],
        tokens=new.tokens,
        model=new.model[:128],
        author=new.author,
        reason=new.reason[:255],
        losses=dict(new.losses),
        created_at=new.at or timezone.now(),
    )
