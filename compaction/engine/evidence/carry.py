"""A previous summary read back into evidence, whoever wrote it.

What we wrote ourselves is recognised by its labels; what a model or an operator wrote
is taken item by item under the heading it stands below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from compaction.engine.evidence.carried_lines import (
    plain_item,
    read_command,
    read_error,
    read_fact,
    read_file,
    read_listed,
    read_tools,
    reads_as_command,
    reads_as_fact,
)
from compaction.engine.evidence.extract_questions import ASKED_BY_USER
from compaction.engine.evidence.items import (
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.labels import GUARD, NOTES, NOTHING, strip_label
from compaction.engine.phases.summary_text import parse_sections

ITEM_CHARS = 700

_HEADINGS: tuple[tuple[re.Pattern[str], EvidenceKind], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"constraint|preference|rules|约束|偏好", EvidenceKind.CONSTRAINT),
        (r"/ done|completed|resolved|已完成|finished", EvidenceKind.DONE),
        (r"in.progress|active state|current|进行中", EvidenceKind.STATE),
        (r"blocked|blocker|阻塞", EvidenceKind.BLOCKER),
        (r"decision|决定|决策", EvidenceKind.DECISION),
        (r"files|文件", EvidenceKind.FILE),
        (r"next|remaining|pending|todo|下一步|待办", EvidenceKind.TODO),
        (r"tools|patterns|工具", EvidenceKind.COMMAND),
        (r"goal|task snapshot|objective|目标", EvidenceKind.GOAL),
        (r"^progress$|进展", EvidenceKind.DONE),
    )
)
_ANSWER = " → "


def read_previous(summary: str) -> tuple[EvidenceItem, ...]:
    """Return what a bare summary tells, as items without a position."""
    found: list[EvidenceItem] = []
    for section in parse_sections(NOTES.sub("", summary)):
        for text in section.items:
            line = text.strip()[: 2 * ITEM_CHARS]
            if line and line.casefold() not in NOTHING:
                found += _items(section.path, line, is_first=not found)
    return tuple(found)


def _kind_of(path: str) -> EvidenceKind:
    for pattern, kind in _HEADINGS:
        if pattern.search(path):
            return kind
    return EvidenceKind.IDENTIFIER


def _items(path: str, text: str, *, is_first: bool) -> Iterator[EvidenceItem]:
    kind = _kind_of(path)
    if text.startswith(GUARD):
        yield plain_item(kind, text.removeprefix(GUARD))
        return
    labelled = _labelled(_MIXED if path == _MIXED else kind, text)
    if labelled is not None:
        yield from labelled
    elif kind is EvidenceKind.GOAL and not is_first:
        yield plain_item(EvidenceKind.REQUEST, text)
    elif path == _MIXED:
        yield from _read_mixed(text)
    elif kind in _READERS:
        yield from _READERS[kind](text)
    else:
        yield plain_item(kind, text)


_MIXED = "Progress"
"""The heading below which the tutorial's template has all that it has no other for."""


def _read_mixed(text: str) -> Iterator[EvidenceItem]:
    if reads_as_command(text):
        yield from read_command(text)
    elif reads_as_fact(text):
        yield from read_fact(text)
    else:
        yield plain_item(EvidenceKind.DONE, text)


# what we wrote ourselves

_LABELLED: tuple[tuple[str, EvidenceKind, tuple[str, ...]], ...] = (
    ("newest", EvidenceKind.REQUEST, (EvidenceKind.GOAL,)),
    ("constraint", EvidenceKind.CONSTRAINT, (EvidenceKind.GOAL,)),
    ("asked", EvidenceKind.REQUEST, (EvidenceKind.DONE, _MIXED)),
    ("in_progress", EvidenceKind.TODO, (EvidenceKind.STATE, _MIXED)),
    ("waiting", EvidenceKind.QUESTION, (EvidenceKind.BLOCKER, _MIXED)),
    ("open_question", EvidenceKind.QUESTION, (EvidenceKind.BLOCKER, _MIXED)),
    ("error", EvidenceKind.ERROR, (EvidenceKind.IDENTIFIER, _MIXED)),
    ("fact", EvidenceKind.IDENTIFIER, (_MIXED,)),
)
"""A label, the kind that it tells, and the kinds below whose heading it stands."""

_OUTLIVED = (
    ("last_reply", (EvidenceKind.STATE, _MIXED)),
    ("announced", (EvidenceKind.TODO,)),
)
"""What stood at the end of an earlier part: later messages tell it better."""


def _labelled(heading: str, text: str) -> list[EvidenceItem] | None:
    for name, kind, headings in _LABELLED:
        bare = strip_label(text, name) if heading in headings else None
        if bare is not None:
            return _read_labelled(name, kind, bare)
    for name, headings in _OUTLIVED:
        if heading in headings and strip_label(text, name) is not None:
            return []
    if heading == EvidenceKind.FILE:
        listed = strip_label(text, "read")
        return None if listed is None else read_listed("read", listed)
    if heading in (EvidenceKind.COMMAND, _MIXED):
        listed = strip_label(text, "tools")
        return None if listed is None else list(read_tools(listed))
    return None


def _read_labelled(name: str, kind: EvidenceKind, text: str) -> list[EvidenceItem]:
    if kind is EvidenceKind.IDENTIFIER:
        return list(read_fact(text))
    if kind is EvidenceKind.REQUEST:
        asked, _, answer = text.partition(_ANSWER)
        is_open = name == "newest"
        status = EvidenceStatus.LIVE if is_open else EvidenceStatus.RESOLVED
        return [plain_item(kind, asked, answer).evolve(status=status)]
    if kind is EvidenceKind.ERROR:
        return [read_error(text)]
    notes = {"in_progress": "in progress", "open_question": ASKED_BY_USER}
    return [plain_item(kind, text, notes.get(name, ""))]


_READERS: dict[EvidenceKind, Callable[[str], Iterator[EvidenceItem]]] = {
    EvidenceKind.FILE: read_file,
    EvidenceKind.COMMAND: read_command,
    EvidenceKind.IDENTIFIER: read_fact,
}
