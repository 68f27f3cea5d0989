"""A previous summary read back into evidence, whoever wrote it.

What we wrote ourselves is recognised by its labels; what a model or an operator wrote
is taken item by item under the heading it stands below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from compaction.engine.evidence.extract_commands import has_failed
from compaction.engine.evidence.extract_errors import is_error
from compaction.engine.evidence.extract_files import tells_acts
from compaction.engine.evidence.extract_identifiers import values_in
from compaction.engine.evidence.extract_questions import ASKED_BY_USER
from compaction.engine.evidence.extract_todos import todo_key
from compaction.engine.evidence.items import (
    WEIGHTS,
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.labels import ALL, GUARD, NOTES, NOTHING, strip_label
from compaction.engine.evidence.wording import subject_key
from compaction.engine.phases.summary_text import parse_sections

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
_FILE = re.compile(
    r"`?(?P<path>[^`\n]{1,300}?)`?(?:(?:\s+[-–—]|\s*:)\s+(?P<note>.{1,300}))?$"
)
_QUOTED_FILE = re.compile(r"`(?P<path>[^`\n]{1,300})` - (?P<note>\S.{0,299})$")
_LIST = re.compile(r"(?P<note>[^:`]{1,60}): (?P<listed>\S.*)$")
_COMMAND = re.compile(r"`(?P<command>[^\n]{1,300})`\s*(?:->|→)\s*(?P<note>.{1,200})$")
_COMMANDS = re.compile(r"(?P<note>[^`]{1,200}): (?P<listed>`[^`]+`(?:, `[^`]+`)*)$")
_TOOL = re.compile(r"(?P<name>[\w.:-]{1,80}) (?P<note>×\d{1,6})")
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
        yield _item(kind, text.removeprefix(GUARD))
        return
    labelled = _labelled(_MIXED if path == _MIXED else kind, text)
    if labelled is not None:
        yield from labelled
    elif kind is EvidenceKind.GOAL and not is_first:
        yield _item(EvidenceKind.REQUEST, text)
    elif path == _MIXED:
        yield from _read_mixed(text)
    elif kind in _READERS:
        yield from _READERS[kind](text)
    else:
        yield _item(kind, text)


_MIXED = "Progress"
"""The heading below which the tutorial's template has all that it has no other for."""


def _read_mixed(text: str) -> Iterator[EvidenceItem]:
    if _COMMANDS.match(text) or _COMMAND.match(text):
        yield from _read_command(text)
    elif is_error(text) or _ARGUMENTS.match(text):
        yield from _read_fact(text)
    else:
        yield _item(EvidenceKind.DONE, text)


_ARGUMENTS = re.compile(r"[\w.-]{1,60}: [\w.\[\]-]{1,80}=")


def _read_fact(text: str) -> Iterator[EvidenceItem]:
    """Read an error, the values of a call, or a line with exact values in it."""
    if is_error(text):
        yield _read_error(text)
    elif _ARGUMENTS.match(text):
        yield _item(EvidenceKind.VALUE, text)
    else:
        values = {value.text: value.what for value in values_in(text)}
        for value, what in (values or {text: ""}).items():
            yield _item(EvidenceKind.IDENTIFIER, text, what, value)


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
        return None if listed is None else _read_listed("read", listed)
    if heading in (EvidenceKind.COMMAND, _MIXED):
        listed = strip_label(text, "tools")
        return None if listed is None else list(_read_tools(listed))
    return None


def _read_labelled(name: str, kind: EvidenceKind, text: str) -> list[EvidenceItem]:
    if kind is EvidenceKind.IDENTIFIER:
        return list(_read_fact(text))
    if kind is EvidenceKind.REQUEST:
        asked, _, answer = text.partition(_ANSWER)
        is_open = name == "newest"
        status = EvidenceStatus.LIVE if is_open else EvidenceStatus.RESOLVED
        return [_item(kind, asked, answer).evolve(status=status)]
    if kind is EvidenceKind.ERROR:
        return [_read_error(text)]
    notes = {"in_progress": "in progress", "open_question": ASKED_BY_USER}
    return [_item(kind, text, notes.get(name, ""))]


def _read_error(text: str) -> EvidenceItem:
    gone = next((known.fixed for known in ALL if text.endswith(known.fixed)), "")
    item = _item(EvidenceKind.ERROR, text.removesuffix(gone))
    return item.evolve(status=EvidenceStatus.RESOLVED) if gone else item


def _read_listed(note: str, text: str) -> list[EvidenceItem]:
    return [_item(EvidenceKind.FILE, path, note) for path in _listed(text)]


def _listed(text: str) -> list[str]:
    return [part.strip(" `") for part in text.split(", ") if part.strip(" `")]


def _read_tools(text: str) -> Iterator[EvidenceItem]:
    for match in _TOOL.finditer(text):
        yield _item(EvidenceKind.TOOL, match["name"], match["note"])


# what stands under a heading


def _read_file(text: str) -> Iterator[EvidenceItem]:
    listed = _LIST.match(text)
    if listed and tells_acts(listed["note"]):
        yield from _read_listed(listed["note"], listed["listed"])
        return
    quoted = _QUOTED_FILE.match(text)
    if quoted:
        yield _item(EvidenceKind.FILE, quoted["path"], quoted["note"])
        return
    match = _FILE.match(text)
    if match is None or " " in match["path"].strip().replace(" -> ", ""):
        yield _item(EvidenceKind.IDENTIFIER, text)
        return
    path = match["path"].strip()
    yield _item(EvidenceKind.FILE, path, match["note"] or "mentioned", path)


def _read_command(text: str) -> Iterator[EvidenceItem]:
    listed = _COMMANDS.match(text)
    if listed:
        for command in listed["listed"][1:-1].split("`, `"):
            yield _ended(command, listed["note"])
        return
    match = _COMMAND.match(text)
    if match is None:
        yield _item(EvidenceKind.DECISION, text).evolve(weight=30)
    else:
        yield _ended(match["command"], match["note"])


def _ended(command: str, note: str) -> EvidenceItem:
    status = EvidenceStatus.LIVE if has_failed(note) else EvidenceStatus.RESOLVED
    return _item(EvidenceKind.COMMAND, command, note).evolve(status=status)


_READERS: dict[EvidenceKind, Callable[[str], Iterator[EvidenceItem]]] = {
    EvidenceKind.FILE: _read_file,
    EvidenceKind.COMMAND: _read_command,
    EvidenceKind.IDENTIFIER: _read_fact,
}
