"""Writing one prepared conversation: one transaction, all of it or nothing.

What was prepared is valid only for the rows it was compared with. They are locked and
compared again first; when they moved on meanwhile nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction

from compaction.engine.outline import Outline
from compaction.models import Conversation, Session
from compaction.services.conversations import refresh_conversation
from compaction.services.crash_points import AFTER_COMMIT, BEFORE_COMMIT, reach
from compaction.services.imports.extras import write_cooldown, write_task_state
from compaction.services.imports.matching import Fate, Held
from compaction.services.imports.rows import Prepared
from compaction.services.imports.sessions import SessionWriter
from compaction.services.model_windows import usable_window
from compaction.sources.values import SourceConversation
from compaction.store import readable, storable, title_for_column
from compaction.store.texts import id_for_column

OUR_NOTES = ("branched:", "local_branch:", "task_state_kept")
"""Notes of the import itself; a reader's notes are replaced by its newer ones."""

_NOTES = 200
_TIMES_READ = 50  # newest messages of a session that tell when it was last active


class Moved(Exception):
    """The rows changed since they were compared; compare again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where an import comes from, in words for people, and the moment of it."""

    label: str
    now: datetime
    is_demo: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One foreign conversation, compared and measured, ready to be written."""

    source: SourceConversation
    provenance: Provenance
    conversation: Conversation | None
    held: Sequence[Held]
    sessions: Sequence[Prepared]


def write_package(package: Package) -> Conversation:
    """Write a conversation; raises Moved, and then nothing has changed."""
    try:
        with transaction.atomic():
            conversation = _write(package)
            reach(BEFORE_COMMIT)
    except IntegrityError as error:
        raise Moved from error
    reach(AFTER_COMMIT)
    return conversation


def _write(package: Package) -> Conversation:
    conversation = _lock(package)
    writer = SessionWriter(conversation, now=package.provenance.now)
    for prepared in package.sessions:
        writer.write(prepared)
    _note_facts(conversation, package.source)
    _move_tip(conversation, package, writer.rows)
    conversation.save()
    notes = [*writer.notes, *_write_extras(conversation, package)]
    _keep_notes(conversation, package.source, notes)
    outline = _outline_at_hand(package) if conversation.tip == writer.rows[-1] else None
    refresh_conversation(conversation, outline=outline)
    return conversation


def _outline_at_hand(package: Package) -> Outline | None:
    """The numbers of a session that was just written whole need not be read again."""
    newest = package.sessions[-1]
    is_whole = newest.match.fate in (Fate.NEW, Fate.BRANCHED)
    return Outline(newest.measured.facts) if is_whole else None


def _lock(package: Package) -> Conversation:
    known = package.conversation
    if known is None:
        return _create(package)
    rows = Conversation.objects.select_for_update(of=("self",)).filter(pk=known.pk)
    conversation = rows.select_related("profile").first()
    sessions = Session.objects.select_for_update().filter(conversation_id=known.pk)
    revisions = dict(sessions.values_list("pk", "revision"))
    unchanged = all(revisions.get(h.pk) == h.revision for h in package.held)
    if conversation is None or not unchanged:
        raise Moved
    return conversation


def _create(package: Package) -> Conversation:
    source, provenance = package.source, package.provenance
    window, is_declared = usable_window(source.window, source.model)
    return Conversation.objects.create(
        source=source.source[:32],
        external_id=id_for_column(source.external_id),
        window=window,
        window_is_declared=is_declared,
        is_demo=provenance.is_demo,
        imported_from="" if provenance.is_demo else readable(provenance.label)[:512],
        active_at=provenance.now,
    )


def _note_facts(conversation: Conversation, source: SourceConversation) -> None:
    conversation.title = title_for_column(source.title) or conversation.title
    conversation.agent = agent_of(source) or conversation.agent
    conversation.model = readable(source.model)[:128] or conversation.model


def agent_of(source: SourceConversation) -> str:
    """Return the agent's name, with the way it was talked to where that is known."""
    channel = source.meta.get("source")
    named = f"{source.agent} · {channel}" if source.agent and channel else source.agent
    return readable(named)[:128]


def _move_tip(
    conversation: Conversation, package: Package, rows: Sequence[Session]
) -> None:
    """The tip follows the agent; one of ours stays while the agent stands still."""
    newest = package.sessions[-1].match
    has_moved = newest.fate is not Fate.SAME or newest.is_rewound
    if has_moved or conversation.tip_id is None:
        conversation.tip = rows[-1]
        conversation.active_at = _newest_moment(package)


def _newest_moment(package: Package) -> datetime:
    now = package.provenance.now
    moments = [
        moment
        for session in package.source.sessions
        for moment in (
            session.started_at,
            session.ended_at,
            *(item.at for item in session.messages[-_TIMES_READ:]),
        )
        if moment is not None
    ]
    return min(max(moments, default=now), now)


def _write_extras(conversation: Conversation, package: Package) -> list[str]:
    write_cooldown(conversation, package.source, now=package.provenance.now)
    is_taken = write_task_state(conversation, package.source)
    return [] if is_taken else ["task_state_kept"]


def _keep_notes(
    conversation: Conversation, source: SourceConversation, notes: Sequence[str]
) -> None:
    kept = [note for note in conversation.import_notes if note.startswith(OUR_NOTES)]
    all_notes = list(dict.fromkeys([*source.notes, *kept, *notes]))
    conversation.import_notes = storable(all_notes[:_NOTES])
    conversation.save(update_fields=["import_notes"])
