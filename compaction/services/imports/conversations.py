"""One foreign conversation in: compared, measured, written whole or not at all.

Comparing and measuring are slow and lock nothing; the transaction that follows is
short. When the rows moved in between, everything is done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import takewhile

from compaction import wiring
from compaction.models import Conversation, Message, Session
from compaction.services.imports.extras import (
    has_cooldown_changed,
    has_task_state_changed,
)
from compaction.services.imports.matching import (
    Fate,
    Held,
    Match,
    key_of,
    match_sessions,
)
from compaction.services.imports.places import find_places
from compaction.services.imports.rows import OnRows, Prepared, prepare
from compaction.services.imports.sessions import ending_of, our_continuations
from compaction.services.imports.writing import (
    Moved,
    Package,
    Provenance,
    write_package,
)
from compaction.services.token_counts import BatchCounts
from compaction.sources.values import SourceConversation
from compaction.store import title_for_column
from compaction.store.texts import id_for_column

_TRIES = 5


class Change(StrEnum):
    """What an import did to one conversation."""

    NEW = "new"
    GROWN = "grown"  # messages or sessions were added
    NOTED = "noted"  # an ending, a title, a TaskState, a cooldown; no message
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One conversation after its import; `messages` is how many were added."""

    conversation: Conversation
    change: Change
    messages: int = 0
    branches: int = 0  # sessions whose past read otherwise


def _ignore(_: int) -> None:
    """Tell nobody."""


def import_conversation(
    source: SourceConversation, provenance: Provenance, *, on_rows: OnRows = _ignore
) -> Imported:
    """Bring one foreign conversation in; doing it twice changes nothing.

    A copy that was continued here goes its own way and does not grow any more.
    Raises RuntimeError when others change the same conversation again and again.
    """
    for _ in range(_TRIES):
        stored = _load(source)
        if stored.conversation is not None and stored.conversation.may_continue:
            return Imported(conversation=stored.conversation, change=Change.UNCHANGED)
        matches = match_sessions(source, stored.held)
        if not _is_news(source, stored, matches, now=provenance.now):
            assert stored.conversation is not None
            return Imported(conversation=stored.conversation, change=Change.UNCHANGED)
        package = _package(source, provenance, stored, matches, on_rows)
        try:
            conversation = write_package(package)
        except Moved:
            continue
        return _report(conversation, stored, package)
    raise RuntimeError(f"{source.external_id} keeps changing while it is imported")


# --- what we hold ------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    conversation: Conversation | None = None
    sessions: tuple[Session, ...] = ()  # mirrored ones
    held: tuple[Held, ...] = ()


def _load(source: SourceConversation) -> _Stored:
    conversation = (
        Conversation.objects.filter(
            source=source.source[:32], external_id=id_for_column(source.external_id)
        )
        .select_related("tip", "profile")
        .first()
    )
    if conversation is None:
        return _Stored()
    rows = Session.objects.filter(conversation=conversation).exclude(external_id="")
    sessions = tuple(rows.defer("system_prompt", "tools").order_by("started_at", "pk"))
    return _Stored(
        conversation=conversation,
        sessions=sessions,
        held=tuple(map(_held, sessions)),
    )


def _held(session: Session) -> Held:
    rows = Message.objects.filter(session=session).order_by("position")
    columns = list(rows.values_list("source_digest", "inactive"))
    mirrored = list(takewhile(lambda column: column[0], columns))
    return Held(
        pk=session.pk,
        key=(session.external_id, session.generation),
        revision=session.revision,
        digests=[digest for digest, _ in mirrored],
        own_tail=len(mirrored) < len(columns),
        inactive=frozenset(i for i, column in enumerate(mirrored) if column[1]),
        tokens=session.tokens,
    )


# --- what is new -------------------------------------------------------------
def _is_news(
    source: SourceConversation,
    stored: _Stored,
    matches: Sequence[Match],
    *,
    now: datetime,
) -> bool:
    conversation = stored.conversation
    if conversation is None:
        return True
    if any(match.fate is not Fate.SAME or match.is_rewound for match in matches):
        return True
    if _is_older_copy(stored, matches):
        return False
    return (
        title_for_column(source.title) not in ("", conversation.title)
        or any(_has_other_ending(stored, match) for match in matches)
        or has_task_state_changed(conversation, source)
        or has_cooldown_changed(conversation, source, now=now)
    )


def _is_older_copy(stored: _Stored, matches: Sequence[Match]) -> bool:
    """True when we hold more than the log: it was copied before it grew."""
    keys = {key_of(match.session) for match in matches}
    return any(held.key not in keys for held in stored.held) or any(
        match.held is not None and len(match.digests) < len(match.held.digests)
        for match in matches
    )


def _has_other_ending(stored: _Stored, match: Match) -> bool:
    assert match.held is not None
    by_pk = {session.pk: session for session in stored.sessions}
    row = by_pk[match.held.pk]
    if our_continuations(row).exists():
        return False
    ending = ending_of(row, match.session)
    return any(getattr(row, name) != value for name, value in ending.items())


# --- getting it ready --------------------------------------------------------
def _package(
    source: SourceConversation,
    provenance: Provenance,
    stored: _Stored,
    matches: Sequence[Match],
    on_rows: OnRows,
) -> Package:
    places = find_places(source, matches, now=provenance.now)
    counters: dict[str, BatchCounts] = {}
    prepared: list[Prepared] = []
    for match, place in zip(matches, places, strict=True):
        counter = wiring.get_counter(match.session.model or source.model)
        counting = counters.setdefault(counter.name, BatchCounts(counter))
        prepared.append(prepare(match, place, counting, on_rows=on_rows))
    return Package(
        source=source,
        provenance=provenance,
        conversation=stored.conversation,
        held=stored.held,
        sessions=prepared,
    )


def _report(conversation: Conversation, stored: _Stored, package: Package) -> Imported:
    messages = sum(len(prepared.rows) for prepared in package.sessions)
    fates = [prepared.match.fate for prepared in package.sessions]
    rewound = any(prepared.match.is_rewound for prepared in package.sessions)
    if stored.conversation is None:
        change = Change.NEW
    else:
        is_grown = rewound or any(fate is not Fate.SAME for fate in fates)
        change = Change.GROWN if is_grown else Change.NOTED
    return Imported(
        conversation=conversation,
        change=change,
        messages=messages,
        branches=fates.count(Fate.BRANCHED),
    )
