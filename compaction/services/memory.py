"""Changes of a conversation's memory: versioned, never silently over another's.

A memory is written by the agent (its tools, the flush before a compaction) or by an
operator. An edit is saved against the version that stood on the page; the database
allows each version once, so of two editors one is told. Nothing is ever deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from compaction import wiring
from compaction.engine.memory import render_memory
from compaction.models import Conversation, MemoryItem
from compaction.services.audit import Change, record_action
from compaction.services.conversations import refresh_conversation
from compaction.store.memory import memories_in_force, newest_memory
from compaction.store.texts import readable

TEXT_CHARS = 2_000
ITEMS = 200
_TRIES = 20


class MemoryFault(StrEnum):
    """Why a memory was not saved, as a code for the templates and the agent."""

    BLANK = "blank"
    TOO_LONG = "too_long"
    TOO_MANY = "too_many"
    UNKNOWN = "unknown"
    BUSY = "busy"


class MemoryRefused(Exception):
    """A memory that is not saved; nothing was written."""

    def __init__(self, code: MemoryFault) -> None:
        super().__init__(code.value)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConflict:
    """Somebody else saved first: `theirs` stands, `mine` was not written."""

    theirs: MemoryItem
    mine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEdit:
    """A new text for one memory, against the version that was seen.

    `removed` takes it out of force; a later edit brings it back.
    """

    item: int
    base_version: int
    text: str
    removed: bool = False
    operator: User | None = None


def add_memory(
    conversation: Conversation, text: str, *, operator: User | None = None
) -> MemoryItem:
    """Add a memory; without an operator it is the agent's. Raises MemoryRefused.

    A text that stands in force already is returned as it is.
    """
    text = _tidy(text)
    for _ in range(_TRIES):
        known = memories_in_force(conversation)
        same = next((row for row in known if row.text == text), None)
        if same is not None:
            return same
        if len(known) >= ITEMS:
            raise MemoryRefused(MemoryFault.TOO_MANY)
        try:
            with transaction.atomic():
                row = _write(conversation, _next_item(conversation), text, operator)
                _note(row, before="", operator=operator)
                return row
        except IntegrityError:
            continue
    raise MemoryRefused(MemoryFault.BUSY)


def edit_memory(
    conversation: Conversation, edit: MemoryEdit
) -> MemoryItem | MemoryConflict:
    """Save an operator's edit or removal; raises MemoryRefused."""
    text = _tidy(edit.text)
    theirs = newest_memory(conversation, edit.item)
    if theirs is None:
        raise MemoryRefused(MemoryFault.UNKNOWN)
    if theirs.version != edit.base_version:
        return MemoryConflict(theirs=theirs, mine=text)
    if (theirs.text, theirs.removed) == (text, edit.removed):
        return theirs
    try:
        with transaction.atomic():
            row = _create_version(theirs, text, edit)
            _note(row, before=theirs.text, operator=edit.operator)
            return row
    except IntegrityError:
        newest = newest_memory(conversation, edit.item)
        return MemoryConflict(theirs=newest or theirs, mine=text)


def copy_memory(source: Conversation, target: Conversation) -> int:
    """Give a conversation the memories of another; return how many."""
    rows = memories_in_force(source)
    now = timezone.now()
    copies = [
        MemoryItem(
            conversation=target,
            item=number,
            text=row.text,
            tokens=row.tokens,
            by_agent=row.by_agent,
            author=row.author,
            at=now,
        )
        for number, row in enumerate(rows, 1)
    ]
    MemoryItem.objects.bulk_create(copies)
    _count_tokens(target)
    return len(copies)


def _tidy(text: str) -> str:
    text = readable(text).strip()
    if not text:
        raise MemoryRefused(MemoryFault.BLANK)
    if len(text) > TEXT_CHARS:
        raise MemoryRefused(MemoryFault.TOO_LONG)
    return text


def _next_item(conversation: Conversation) -> int:
    items = MemoryItem.objects.filter(conversation=conversation).order_by("-item")
    return (items.values_list("item", flat=True).first() or 0) + 1


def _write(
    conversation: Conversation, item: int, text: str, operator: User | None
) -> MemoryItem:
    return MemoryItem.objects.create(
        conversation=conversation,
        item=item,
        text=text,
        tokens=_tokens(conversation, text),
        by_agent=operator is None,
        author=operator,
        at=timezone.now(),
    )


def _create_version(theirs: MemoryItem, text: str, edit: MemoryEdit) -> MemoryItem:
    return MemoryItem.objects.create(
        conversation=theirs.conversation,
        item=theirs.item,
        version=theirs.version + 1,
        text=text,
        tokens=_tokens(theirs.conversation, text),
        removed=edit.removed,
        by_agent=edit.operator is None,
        author=edit.operator,
        at=timezone.now(),
    )


def _tokens(conversation: Conversation, text: str) -> int:
    return wiring.get_counter(conversation.model).count(text)


def _note(row: MemoryItem, *, before: str, operator: User | None) -> None:
    """Bring the counts up to date, and the audit for a person."""
    _count_tokens(row.conversation)
    if operator is not None:
        verb = "remove_memory" if row.removed else "edit_memory"
        change = Change(target=f"memory:{row.item}", before=before, after=row.text)
        record_action(operator, verb, row.conversation, change=change)
    refresh_conversation(row.conversation)


def _count_tokens(conversation: Conversation) -> None:
    """Note what the rendered memory costs; plans count it with the system prompt."""
    counter = wiring.get_counter(conversation.model)
    texts: Sequence[str] = [row.text for row in memories_in_force(conversation)]
    rendered = render_memory(texts, counter)
    conversation.memory_tokens = counter.count(rendered) if rendered else 0
    conversation.save(update_fields=["memory_tokens"])
