"""One line of a summary read back: files, commands, errors, values, plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compaction.engine.evidence.extract_commands import has_failed
from compaction.engine.evidence.extract_errors import is_error
from compaction.engine.evidence.extract_files import tells_acts
from compaction.engine.evidence.extract_identifiers import values_in
from compaction.engine.evidence.extract_todos import todo_key
from compaction.engine.evidence.items import (
    WEIGHTS,
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.labels import ALL
from compaction.engine.evidence.wording import subject_key

CARRIED = 0.95
"""What a carried item weighs beside a new one of its kind."""

_FILE = re.compile(
    r"`?(?P<path>[^`\n]{1,300}?)`?(?:(?:\s+[-–—]|\s*:)\s+(?P<note>.{1,300}))?$"
)
_QUOTED_FILE = re.compile(r"`(?P<path>[^`\n]{1,300})` - (?P<note>\S.{0,299})$")
_LIST = re.compile(r"(?P<note>[^:`]{1,60}): (?P<listed>\S.*)$")
_COMMAND = re.compile(r"`(?P<command>[^\n]{1,300})`\s*(?:->|→)\s*(?P<note>.{1,200})$")
_COMMANDS = re.compile(r"(?P<note>[^`]{1,200}): (?P<listed>`[^`]+`(?:, `[^`]+`)*)$")
_TOOL = re.compile(r"(?P<name>[\w.:-]{1,80}) (?P<note>×\d{1,6})")
_ARGUMENTS = re.compile(r"[\w.-]{1,60}: [\w.\[\]-]{1,80}=")


def plain_item(
    kind: EvidenceKind, text: str, note: str = "", key: str = ""
) -> EvidenceItem:
    """Make an item of what a line says; `key` by default what its kind goes by."""
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


def read_fact(text: str) -> Iterator[EvidenceItem]:
    """Read an error, the values of a call, or a line with exact values in it."""
    if is_error(text):
        yield read_error(text)
    elif _ARGUMENTS.match(text):
        yield plain_item(EvidenceKind.VALUE, text)
    else:
        values = {value.text: value.what for value in values_in(text)}
        for value, what in (values or {text: ""}).items():
            yield plain_item(EvidenceKind.IDENTIFIER, text, what, value)


def read_error(text: str) -> EvidenceItem:
    """Read an error, which may be gone."""
    gone = next((known.fixed for known in ALL if text.endswith(known.fixed)), "")
    item = plain_item(EvidenceKind.ERROR, text.removesuffix(gone))
    return item.evolve(status=EvidenceStatus.RESOLVED) if gone else item


def read_listed(note: str, text: str) -> list[EvidenceItem]:
    """Read the files of a list that have the same done to them."""
    return [plain_item(EvidenceKind.FILE, path, note) for path in _listed(text)]


def _listed(text: str) -> list[str]:
    return [part.strip(" `") for part in text.split(", ") if part.strip(" `")]


def read_tools(text: str) -> Iterator[EvidenceItem]:
    """Read which tools were used, and how often."""
    for match in _TOOL.finditer(text):
        yield plain_item(EvidenceKind.TOOL, match["name"], match["note"])


def read_file(text: str) -> Iterator[EvidenceItem]:
    """Read files and what was done to them; other text as a fact."""
    listed = _LIST.match(text)
    if listed and tells_acts(listed["note"]):
        yield from read_listed(listed["note"], listed["listed"])
        return
    quoted = _QUOTED_FILE.match(text)
    if quoted:
        yield plain_item(EvidenceKind.FILE, quoted["path"], quoted["note"])
        return
    match = _FILE.match(text)
    if match is None or " " in match["path"].strip().replace(" -> ", ""):
        yield plain_item(EvidenceKind.IDENTIFIER, text)
        return
    path = match["path"].strip()
    yield plain_item(EvidenceKind.FILE, path, match["note"] or "mentioned", path)


def read_command(text: str) -> Iterator[EvidenceItem]:
    """Read commands and their ends; other text as something learned."""
    listed = _COMMANDS.match(text)
    if listed:
        for command in listed["listed"][1:-1].split("`, `"):
            yield _ended(command, listed["note"])
        return
    match = _COMMAND.match(text)
    if match is None:
        yield plain_item(EvidenceKind.DECISION, text).evolve(weight=30)
    else:
        yield _ended(match["command"], match["note"])


def _ended(command: str, note: str) -> EvidenceItem:
    status = EvidenceStatus.LIVE if has_failed(note) else EvidenceStatus.RESOLVED
    return plain_item(EvidenceKind.COMMAND, command, note).evolve(status=status)


def reads_as_command(text: str) -> bool:
    """True for a line that tells commands and their ends."""
    return bool(_COMMANDS.match(text) or _COMMAND.match(text))


def reads_as_fact(text: str) -> bool:
    """True for an error, or for the values of a call."""
    return is_error(text) or _ARGUMENTS.match(text) is not None
