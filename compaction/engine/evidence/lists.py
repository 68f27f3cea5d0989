"""Many small things on one line: files by what was done, commands by their end, tools.

A path alone costs half of what a line of its own costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from compaction.engine.evidence.extract_files import tells_acts
from compaction.engine.evidence.items import EvidenceItem, EvidenceKind, EvidenceStatus
from compaction.engine.evidence.labels import Labels
from compaction.engine.evidence.lines import Line

_K = EvidenceKind
_FILES = 12  # on one line
_COMMANDS = 6


def write_lists(
    items: Sequence[EvidenceItem], places: Mapping[str, str], labels: Labels
) -> list[Line]:
    """Return the lines of files, commands and tools."""
    return [
        *_write_files(items, places["files"], labels),
        *_write_commands(items, places["tools"]),
        *_write_tools(items, places["tools"], labels),
    ]


def _write_files(
    items: Sequence[EvidenceItem], path: str, labels: Labels
) -> Iterable[Line]:
    for note, files in _by_note(items, _K.FILE).items():
        if note == "mentioned":
            continue
        plain = [item for item in files if _is_plain(item, note)]
        label = labels.read if note == "read" else f"{note}: "
        for part in _batches(plain, _FILES):
            yield _join(path, label, [item.text for item in part], part)
        for item in files:
            if not _is_plain(item, note):
                yield _join(path, "", [f"`{item.text}` - {note}"], [item])


def _is_plain(item: EvidenceItem, note: str) -> bool:
    """True for a file that can stand in a list and be read out of it again."""
    return tells_acts(note) and ", " not in item.text and "`" not in item.text


def _write_commands(items: Sequence[EvidenceItem], path: str) -> Iterable[Line]:
    for note, commands in _by_note(items, _K.COMMAND).items():
        plain = [item for item in commands if "`" not in item.text]
        for part in _batches(plain, _COMMANDS):
            yield _join(path, f"{note}: ", [f"`{item.text}`" for item in part], part)
        for item in commands:
            if "`" in item.text:
                yield _join(path, "", [f"`{item.text}` -> {note}"], [item])


def _write_tools(
    items: Sequence[EvidenceItem], path: str, labels: Labels
) -> Iterable[Line]:
    used = Counter(
        {i.text: int(i.note[1:]) for i in items if i.kind is _K.TOOL and i.note}
    )
    if used:
        names = [f"{name} ×{count}" for name, count in used.most_common()]
        tool = EvidenceItem(kind=_K.TOOL, text="", weight=20)
        yield _join(path, labels.tools, names, [tool])


def _by_note(
    items: Iterable[EvidenceItem], kind: EvidenceKind
) -> dict[str, list[EvidenceItem]]:
    """Group what still counts of a kind by its note, the heaviest first."""
    groups: dict[str, list[EvidenceItem]] = {}
    for item in items:
        if item.kind is kind and item.status is not EvidenceStatus.SUPERSEDED:
            groups.setdefault(item.note, []).append(item)
    for group in groups.values():
        group.sort(key=lambda item: -item.weight)
    return groups


def _join(
    path: str, label: str, texts: Sequence[str], items: Sequence[EvidenceItem]
) -> Line:
    heaviest = max(items, key=lambda item: item.weight)
    return Line(
        path=path,
        text=f"{label}{', '.join(texts)}",
        weight=heaviest.weight,
        kind=heaviest.kind,
        tells=len(items),
    )


def _batches(
    items: Sequence[EvidenceItem], size: int
) -> Iterable[Sequence[EvidenceItem]]:
    return (items[start : start + size] for start in range(0, len(items), size))
