"""Foreign sessions as rows: added, made longer, branched, rewound, ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate
from typing import Any

from django.db.models import QuerySet

from compaction.models import Conversation, Message, Session, Summary
from compaction.services.imports.matching import Fate
from compaction.services.imports.rows import Prepared
from compaction.sources.values import SourceSession
from compaction.store import (
    NewSummary,
    add_summary,
    readable,
    storable,
    summary_in_force,
    title_for_column,
)
from compaction.store.messages import SIZE_COLUMNS, note_size, save_rows
from compaction.store.texts import id_for_column

_CONTINUES = (Session.Link.COMPACTION, Session.Link.IN_PLACE)
_PROVIDER = ("provider_tokens", "provider_position")
_MOST = 2**31 - 1


class SessionWriter:
    """Writes the sessions of one conversation, parents first.

    `rows` are ours, one for each foreign session written so far; `notes` say what
    happened besides, as codes for the templates.
    """

    def __init__(self, conversation: Conversation, *, now: datetime) -> None:
        self.conversation = conversation
        self.now = now
        self.rows: list[Session] = []
        self.notes: list[str] = []

    def write(self, prepared: Prepared) -> None:
        """Bring one foreign session in."""
        is_added = prepared.match.fate in (Fate.NEW, Fate.BRANCHED)
        self.rows.append(self._add(prepared) if is_added else self._update(prepared))

    def _add(self, prepared: Prepared) -> Session:
        parent, link = self._parent_of(prepared)
        if parent is not None and link in _CONTINUES:
            self._set_aside(parent)
        session = prepared.match.session
        row = Session(
            id=prepared.place.pk,
            conversation=self.conversation,
            parent=parent,
            link=link,
            external_id=id_for_column(session.external_id),
            generation=session.generation,
            title=title_for_column(session.title),
            compactions=_compactions(parent, link, session),
            system_tokens=prepared.system_tokens,
            tools_tokens=prepared.tools_tokens,
            **_columns(session, now=self.now),
        )
        _note_sizes(row, prepared)
        row.save(force_insert=True)
        save_rows(row, prepared.rows)
        _add_summary(row, prepared)
        return row

    def _parent_of(self, prepared: Prepared) -> tuple[Session | None, str]:
        match, session = prepared.match, prepared.match.session
        if match.fate is Fate.BRANCHED and match.held is not None:
            self.notes.append(f"branched:{prepared.place.pk}@{match.shared}")
            return Session.objects.get(pk=match.held.pk), Session.Link.BRANCH
        if session.parent is None:
            return None, Session.Link.ROOT
        return self.rows[session.parent], session.link.value

    def _set_aside(self, parent: Session) -> None:
        """Make room where the agent went on itself.

        Our own compaction of that point becomes a branch, whole and untouched.
        """
        for child in our_continuations(parent):
            child.link = Session.Link.BRANCH
            child.save(update_fields=["link"])
            self.notes.append(f"local_branch:{child.pk}")

    def _update(self, prepared: Prepared) -> Session:
        match = prepared.match
        assert match.held is not None
        row = Session.objects.get(pk=match.held.pk)
        row.conversation = self.conversation
        if match.fate is Fate.GROWN:
            self._append(row, prepared)
        if match.is_rewound:
            self._set_aside(row)
            _rewind(row, match.session)
        if not our_continuations(row).exists():
            _note_ending(row, match.session)
        return row

    def _append(self, row: Session, prepared: Prepared) -> None:
        self._set_aside(row)
        save_rows(row, prepared.rows)
        _note_sizes(row, prepared)
        row.revision += 1
        row.save(update_fields=[*SIZE_COLUMNS, *_PROVIDER, "revision"])
        if not row.summaries.exists():
            _add_summary(row, prepared)


def our_continuations(row: Session) -> QuerySet[Session]:
    """Return the session that we compacted this one into, if we did."""
    children = Session.objects.filter(parent=row, undone=False, external_id="")
    return children.filter(link__in=_CONTINUES)


def ending_of(row: Session, session: SourceSession) -> dict[str, Any]:
    """Return the columns of a session that its log may change without a message."""
    return {
        "ended_at": session.ended_at,
        "end_reason": readable(session.end_reason)[:64],
        "title": title_for_column(session.title) or row.title,
    }


def started_at(session: SourceSession) -> datetime | None:
    """Return when a session began, as far as its log tells."""
    times = (item.at for item in session.messages if item.at is not None)
    return session.started_at or next(times, None)


def _note_ending(row: Session, session: SourceSession) -> None:
    ending = ending_of(row, session)
    if any(getattr(row, name) != value for name, value in ending.items()):
        for name, value in ending.items():
            setattr(row, name, value)
        row.save(update_fields=list(ending))


def _columns(session: SourceSession, *, now: datetime) -> dict[str, Any]:
    return {
        "model": readable(session.model)[:128],
        "system_prompt": readable(session.system_prompt),
        "tools": storable([dict(tool) for tool in session.tools]),
        "started_at": started_at(session) or now,
        "ended_at": session.ended_at,
        "end_reason": readable(session.end_reason)[:64],
    }


def _compactions(parent: Session | None, link: str, session: SourceSession) -> int:
    """How many compactions lie before a session; its log may have begun after one."""
    if parent is None:
        return 1 if session.summary else 0
    return parent.compactions + (link in _CONTINUES)


def _note_sizes(row: Session, prepared: Prepared) -> None:
    note_size(row, prepared.measured)
    usage = prepared.match.session.usage_tokens
    row.provider_tokens = min(usage, _MOST) if usage else None
    row.provider_position = _measured_at(prepared) if usage else None


def _measured_at(prepared: Prepared) -> int:
    """Position of the newest message that came with a number of the provider."""
    messages = prepared.match.session.messages
    with_usage = (
        position
        for position in range(len(messages) - 1, -1, -1)
        if messages[position].usage_tokens and messages[position].origin is None
    )
    return next(with_usage, len(messages))


def _add_summary(row: Session, prepared: Prepared) -> None:
    text = prepared.match.session.summary.strip()
    if not text:
        return
    new = NewSummary(
        text=text,
        origin=Summary.Origin.IMPORTED,
        tokens=prepared.measured.counter.count(text),
        model=readable(prepared.match.session.model),
        at=row.started_at,
    )
    previous = summary_in_force(row.parent) if row.parent else None
    add_summary(row, new, previous=previous)


def _rewind(row: Session, session: SourceSession) -> None:
    """Mark what the agent took back, and put every number that hangs on it right."""
    rows = list(
        Message.objects.filter(session=row)
        .only("pk", "position", "tokens", "inactive")
        .order_by("position")
    )
    inactive = {i for i, item in enumerate(session.messages) if item.inactive}
    for message in rows[: len(session.messages)]:
        message.inactive = message.position in inactive
    _add_up(rows)
    Message.objects.bulk_update(rows, ["inactive", "cumulative_tokens"], batch_size=500)
    row.tokens = rows[-1].cumulative_tokens if rows else 0
    row.revision += 1
    row.save(update_fields=["tokens", "revision"])


def _add_up(rows: Sequence[Message]) -> None:
    weights = (0 if message.inactive else message.tokens for message in rows)
    for message, total in zip(rows, accumulate(weights), strict=True):
        message.cumulative_tokens = total
