"""A previous summary read back into evidence, whoever wrote it.

What we wrote ourselves is recognised by its labels; what a model or an operator wrote
is taken item by item under the heading it stands below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from compaction.engine.evidence.extract_errors import is_error
from compaction.engine.evidence.extract_todos import todo_key
from compaction.engine.evidence.items import (
    WEIGHTS,
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.labels import NOTES, NOTHING, strip_label
from compaction.engine.evidence.wording import subject_key
from compaction.engine.phases.summary_text import Section, parse_sections

CARRIED = 0.95
"""What a carried item weighs beside a new one of its kind."""

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
_FILE = re.compile(r"`?(?P<path>[^`\n]{1,300}?)`?(?:\s+[-–—:]\s+(?P<note>.{1,300}))?$")
_COMMAND = re.compile(r"`(?P<command>[^`\n]{1,300})`\s*(?:->|→)\s*(?P<note>.{1,200})$")
_TOOL = re.compile(r"(?P<name>[\w.:-]{1,80}) (?P<note>×\d{1,6})")
_ANSWER = " → "


def read_previous(summary: str) -> tuple[EvidenceItem, ...]:
    """Return what a bare summary tells, as items without a position."""
    found: list[EvidenceItem] = []
    for section in parse_sections(NOTES.sub("", summary)):
        kind = _kind_of(section)
        for text in section.items:
            line = text.strip()
            if line and line.casefold() not in NOTHING:
                found += _items(kind, line[: 2 * ITEM_CHARS], is_first=not found)
    return tuple(found)


def _kind_of(section: Section) -> EvidenceKind:
    for pattern, kind in _HEADINGS:
        if pattern.search(section.path):
            return kind
    return EvidenceKind.IDENTIFIER


def _items(kind: EvidenceKind, text: str, *, is_first: bool) -> Iterator[EvidenceItem]:
    labelled = _labelled(text)
    if labelled is not None:
        yield from labelled
    elif kind is EvidenceKind.GOAL and not is_first:
        yield _item(EvidenceKind.REQUEST, text)
    elif kind in _READERS:
        yield from _READERS[kind](text)
    elif kind is EvidenceKind.IDENTIFIER:
        yield _item(_kind_of_fact(text), text)
    else:
        yield _item(kind, text)


_ARGUMENTS = re.compile(r"[\w.-]{1,60}: [\w.\[\]-]{1,80}=")


def _kind_of_fact(text: str) -> EvidenceKind:
    if is_error(text):
        return EvidenceKind.ERROR
    is_value = _ARGUMENTS.match(text) is not None
    return EvidenceKind.VALUE if is_value else EvidenceKind.IDENTIFIER


def _item(kind: EvidenceKind, text: str, note: str = "", key: str = "") -> EvidenceItem:
    return EvidenceItem(
        kind=kind,
        text=text,
        weight=WEIGHTS[kind] * CARRIED,
        key=key or _key_of(kind, text),
        note=note,
    )


def _key_of(kind: EvidenceKind, text: str) -> str:
    if kind is EvidenceKind.TODO:
        return todo_key(text)
    if kind in (EvidenceKind.CONSTRAINT, EvidenceKind.DECISION):
        return subject_key(text)
    return text


# what we wrote ourselves

_LABELLED: tuple[tuple[str, EvidenceKind], ...] = (
    ("newest", EvidenceKind.REQUEST),
    ("asked", EvidenceKind.REQUEST),
    ("in_progress", EvidenceKind.TODO),
    ("error", EvidenceKind.ERROR),
)
_OUTLIVED = ("last_reply", "announced", "open_question")
"""What stood at the end of an earlier part: later messages tell it better."""


def _labelled(text: str) -> list[EvidenceItem] | None:
    for name, kind in _LABELLED:
        bare = strip_label(text, name)
        if bare is not None:
            return [_read_labelled(kind, bare)]
    if any(strip_label(text, name) is not None for name in _OUTLIVED):
        return []
    listed = strip_label(text, "read")
    if listed is not None:
        return [_item(EvidenceKind.FILE, path, "read") for path in _listed(listed)]
    listed = strip_label(text, "tools")
    return None if listed is None else list(_read_tools(listed))


def _read_labelled(kind: EvidenceKind, text: str) -> EvidenceItem:
    if kind is EvidenceKind.REQUEST:
        asked, _, answer = text.partition(_ANSWER)
        item = _item(kind, asked, answer)
        status = EvidenceStatus.RESOLVED if answer else EvidenceStatus.LIVE
        return item.evolve(status=status)
    if kind is EvidenceKind.TODO:
        return _item(kind, text, "in progress")
    return _item(kind, text)


def _listed(text: str) -> list[str]:
    return [part.strip(" `") for part in text.split(", ") if part.strip(" `")]


def _read_tools(text: str) -> Iterator[EvidenceItem]:
    for match in _TOOL.finditer(text):
        yield _item(EvidenceKind.TOOL, match["name"], match["note"])


# what stands under a heading


def _read_file(text: str) -> Iterator[EvidenceItem]:
    match = _FILE.match(text)
    if match is None or " " in match["path"].strip().replace(" -> ", ""):
        yield _item(EvidenceKind.IDENTIFIER, text)
        return
    path = match["path"].strip()
    yield _item(EvidenceKind.FILE, path, match["note"] or "mentioned", path)


def _read_command(text: str) -> Iterator[EvidenceItem]:
    match = _COMMAND.match(text)
    if match is None:
        yield _item(EvidenceKind.DECISION, text).evolve(weight=30)
    else:
        yield _item(EvidenceKind.COMMAND, match["command"], match["note"])


_READERS: dict[EvidenceKind, Callable[[str], Iterator[EvidenceItem]]] = {
    EvidenceKind.FILE: _read_file,
    EvidenceKind.COMMAND: _read_command,
}
