"""Importing a file: every conversation in it, one after the other.

A file that is read in a moment is read to its end before the first conversation is
written, so that a broken one leaves nothing behind. Of a large one every conversation
is written whole or not at all, and the error says how far it came.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.contrib.auth.models import User
from django.utils import timezone

from compaction import wiring
from compaction.services.audit import Change as Recorded, record_action
from compaction.services.imports.conversations import (
    Change,
    Imported,
    import_conversation,
)
from compaction.services.imports.writing import Provenance
from compaction.sources import SourceConversation, SourceError, read_conversations

_READ_AT_ONCE = 32 << 20  # bytes
_COLLECT_AFTER = 50_000  # new objects
_NOTES = 50  # kinds of notes in a report


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did so far; counts of conversations unless a name says otherwise.

    `messages` were added, `measured` were read and counted (the measure of progress);
    `notes` counts what readers repaired or skipped and what the import kept apart, by
    the code before its colon; `sessions` are the tips of the first conversations.
    """

    label: str
    new: int = 0
    grown: int = 0
    noted: int = 0
    unchanged: int = 0
    branches: int = 0
    messages: int = 0
    measured: int = 0
    notes: Mapping[str, int] = field(default_factory=dict)
    sessions: tuple[str, ...] = ()

    @property
    def done(self) -> int:
        """How many conversations were looked at."""
        return self.new + self.grown + self.noted + self.unchanged

    @property
    def changes(self) -> bool:
        """True when anything was written."""
        return self.done > self.unchanged


OnProgress = Callable[[ImportReport], None]


def _ignore(_: ImportReport) -> None:
    """Tell nobody."""


def import_file(
    path: Path,
    *,
    label: str = "",
    operator: User | None = None,
    on_progress: OnProgress = _ignore,
) -> ImportReport:
    """Import a file of any known format; twice changes nothing.

    Raises SourceError for a file that cannot be read; what stands in the report at
    that moment is imported and stays.
    """
    tally = _Tally(label or path.name, on_progress)
    try:
        with _rare_collections():
            for found in _read(path):
                tally.add(import_conversation(found, tally.origin, on_rows=tally.grow))
    finally:
        if tally.report.changes:
            _record(tally.report, operator)
    return tally.report


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let Python look for garbage less often while a file is read.

    Of the many objects that a large log becomes none is garbage for a long time, and
    a tenth of an import went into finding that out.
    """
    usual = gc.get_threshold()
    gc.set_threshold(max(_COLLECT_AFTER, usual[0]), *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _read(path: Path) -> Iterable[SourceConversation]:
    found = read_conversations(path, limits=wiring.source_limits())
    try:
        is_small = path.stat().st_size <= _READ_AT_ONCE
    except OSError as error:
        raise SourceError(str(path), "not_found", str(error)) from None
    return list(found) if is_small else found


class _Tally:
    def __init__(self, label: str, on_progress: OnProgress) -> None:
        self.origin = Provenance(label=label, now=timezone.now())
        self.on_progress = on_progress
        self.counts: Counter[Change] = Counter()
        self.notes: Counter[str] = Counter()
        self.sessions: list[str] = []
        self.branches = self.messages = self.measured = 0

    @property
    def report(self) -> ImportReport:
        return ImportReport(
            label=self.origin.label,
            new=self.counts[Change.NEW],
            grown=self.counts[Change.GROWN],
            noted=self.counts[Change.NOTED],
            unchanged=self.counts[Change.UNCHANGED],
            branches=self.branches,
            messages=self.messages,
            measured=self.measured,
            notes=dict(self.notes.most_common(_NOTES)),
            sessions=tuple(self.sessions),
        )

    def add(self, imported: Imported) -> None:
        self.counts[imported.change] += 1
        self.branches += imported.branches
        self.messages += imported.messages
        if imported.change is not Change.UNCHANGED:
            self._note(imported)
        self.on_progress(self.report)

    def _note(self, imported: Imported) -> None:
        conversation = imported.conversation
        self.notes.update(str(n).partition(":")[0] for n in conversation.import_notes)
        if conversation.tip_id and len(self.sessions) < _NOTES:
            self.sessions.append(conversation.tip_id)

    def grow(self, rows: int) -> None:
        self.measured += rows
        self.on_progress(self.report)


def _record(report: ImportReport, operator: User | None) -> None:
    after = {
        "new": report.new,
        "grown": report.grown,
        "messages": report.messages,
        "branches": report.branches,
    }
    change = Recorded(target=f"file:{report.label}"[:128], after=after)
    record_action(operator, "import", change=change)
