"""Edits of the running summary: a new revision, shown in the messages at once.

The next update starts from the newest revision, so what an operator writes is what
the agent will be reminded of. Nothing is overwritten: each edit adds a revision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q

from compaction import wiring
from compaction.engine.messages import Kind, Message as EngineMessage
from compaction.engine.outline import facts_of
from compaction.engine.phases.summary_text import bare_summary, wrap_summary
from compaction.engine.tokens import TokenCounter
from compaction.models import Message, Session, Summary
from compaction.services.audit import Change, record_action
from compaction.services.conversations import refresh_conversation
from compaction.services.losses import audit_text
from compaction.services.runs.starting import continuation_of
from compaction.store import NewSummary, add_summary, readable, summary_in_force
from compaction.store.message_rows import TEXT_CHARS, dump_body, read_body
from compaction.store.search_index import reindex_text, searchable

SUMMARY_CHARS = 200_000
_CANDIDATES = 20


class Refusal(StrEnum):
    """Why a summary was not changed, as a code for the templates."""

    NO_SUMMARY = "no_summary"  # the session's messages hold none
    SUPERSEDED = "superseded"  # the session was compacted since: edit its successor
    BLANK = "blank"
    TOO_LONG = "too_long"
    UNKNOWN_REVISION = "unknown_revision"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryConflict:
    """Somebody else saved first, or a run did; nothing was written.

    `theirs` stands now, `base` is what the operator saw (None when unknown), `mine`
    what was to be saved.
    """

    base: Summary | None
    theirs: Summary
    mine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryEdit:
    """What an operator wants a summary to say.

    `base_revision` is the revision that stood on the page; `reason` goes into the
    record.
    """

    text: str
    base_revision: int
    reason: str = ""


Result = Summary | SummaryConflict | Refusal


def edit_summary(
    session: Session, edit: SummaryEdit, *, operator: User | None
) -> Result:
    """Save an operator's text as the newest revision, or say why not."""
    new = NewSummary(
        text=bare_summary(readable(edit.text)).strip(),
        origin=Summary.Origin.EDITED,
        tokens=0,
        author=operator,
        reason=edit.reason,
        losses=audit_text(session, edit.text),
    )
    return _save(session, new, base_revision=edit.base_revision)


def restore_summary(
    session: Session, revision: int, *, base_revision: int, operator: User | None
) -> Result:
    """Make the text of an older revision of the conversation the newest one."""
    wanted = _revision(session, revision)
    if wanted is None:
        return Refusal.UNKNOWN_REVISION
    new = NewSummary(
        text=wanted.text,
        origin=Summary.Origin.RESTORED,
        tokens=0,
        model=wanted.model,
        author=operator,
        reason=f"revision {revision}",
        losses=audit_text(session, wanted.text),
    )
    return _save(session, new, base_revision=base_revision)


def _save(session: Session, new: NewSummary, *, base_revision: int) -> Result:
    if not new.text:
        return Refusal.BLANK
    if len(new.text) > SUMMARY_CHARS:
        return Refusal.TOO_LONG
    with transaction.atomic():
        target = _find_target(session)
        if isinstance(target, Refusal):
            return target
        return _save_on(target, new, base_revision)


def _save_on(target: _Target, new: NewSummary, base_revision: int) -> Result:
    current = target.current
    if current.revision != base_revision:
        base = _revision(target.session, base_revision)
        return SummaryConflict(base=base, theirs=current, mine=new.text)
    return current if current.text == new.text else _write(target, new)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A locked session, its summary in force, and the message that shows it."""

    session: Session
    current: Summary
    row: Message


def _find_target(session: Session) -> _Target | Refusal:
    """Lock the session as a run does when it applies its result."""
    rows = Session.objects.select_for_update(of=("self",))
    locked = rows.select_related("conversation__profile").get(pk=session.pk)
    if continuation_of(locked) is not None:
        return Refusal.SUPERSEDED
    current = summary_in_force(locked)
    row = summary_row(locked)
    if current is None or row is None:
        return Refusal.NO_SUMMARY
    return _Target(session=locked, current=current, row=row)


def summary_row(session: Session) -> Message | None:
    """Return the message that shows the running summary: its own, or a carrier."""
    rows = Message.objects.filter(session=session, inactive=False)
    shown = Q(kind=Kind.SUMMARY.value) | Q(body__contains='"carried_summary":')
    candidates = rows.filter(shown).order_by("-position")[:_CANDIDATES]
    return next(filter(_shows_summary, candidates), None)


def _shows_summary(row: Message) -> bool:
    """Foreign content may name our field too; only the message itself counts."""
    message = _message_of(row)
    return message.kind is Kind.SUMMARY or message.carried_summary is not None


def _message_of(row: Message) -> EngineMessage:
    return read_body(row.body, pinned=row.pinned, dropped=row.dropped)


def _revision(session: Session, revision: int) -> Summary | None:
    of_conversation = Summary.objects.filter(
        session__conversation_id=session.conversation_id
    )
    return of_conversation.filter(revision=revision).order_by("-pk").first()


def _write(target: _Target, new: NewSummary) -> Summary:
    session = target.session
    counter = wiring.get_counter(session.model or session.conversation.model)
    new = replace(new, tokens=counter.count(new.text))
    _rewrite_message(target, new.text, counter)
    summary = add_summary(session, new, previous=target.current)
    record_action(
        new.author,
        "restore_summary" if new.origin == Summary.Origin.RESTORED else "edit_summary",
        session,
        change=Change(
            reason=new.reason, before=target.current.text, after=summary.text
        ),
    )
    refresh_conversation(session.conversation)
    return summary


def _rewrite_message(target: _Target, text: str, counter: TokenCounter) -> None:
    """Put the text into the message, and every number that hangs on it right."""
    row, session = target.row, target.session
    message = _with_summary(_message_of(row), text)
    facts = facts_of(message, counter)
    grown = facts.tokens - row.tokens
    before = searchable(row.text, row.calls)
    row.body, row.text = dump_body(message), readable(message.text[:TEXT_CHARS])
    row.tokens, row.pruned_tokens = facts.tokens, facts.pruned_tokens
    row.chars, row.has_text, row.digest = facts.chars, facts.has_text, facts.digest
    row.save(update_fields=_REWRITTEN)
    following = Message.objects.filter(session=session, position__gte=row.position)
    following.update(cumulative_tokens=F("cumulative_tokens") + grown)
    session.tokens += grown
    session.revision += 1
    session.provider_tokens = None  # the provider has not seen this text
    session.save(update_fields=["tokens", "revision", "provider_tokens"])
    if row.origin_position is None:
        after = searchable(row.text, row.calls)
        reindex_text(row.pk, before=before, after=after)


_REWRITTEN = ("body", "text", "tokens", "pruned_tokens", "chars", "has_text", "digest")


def _with_summary(message: EngineMessage, text: str) -> EngineMessage:
    if message.carried_summary is not None:
        return message.evolve(carried_summary=wrap_summary(text))
    return message.evolve(content=wrap_summary(text))
