"""What an updated summary did with the one before, section by section, item by item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from compaction.engine.phases.summary_text import Section, parse_sections


class Change(StrEnum):
    """What became of an item."""

    KEPT = "kept"
    ADDED = "added"
    GONE = "gone"
    MOVED = "moved"
    REWORDED = "reworded"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffItem:
    """One item of one side or of both.

    `before` and `after` are its texts ('' where it is not there); `moved_from` is the
    path it stood under before; `words` are (operation, text) runs of a rewording,
    operation one of `equal`, `insert`, `delete`.
    """

    change: Change
    before: str = ""
    after: str = ""
    moved_from: str = ""
    words: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffSection:
    """One heading with the items of both sides, in the order of the updated one."""

    path: str
    items: tuple[DiffItem, ...]

    def count(self, change: Change) -> int:
        """How many items changed like this."""
        return sum(item.change is change for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryDiff:
    """All sections of both summaries."""

    sections: tuple[DiffSection, ...]

    def count(self, change: Change) -> int:
        """How many items changed like this, over all sections."""
        return sum(section.count(change) for section in self.sections)


SAME_WORDS = 0.6
"""From this similarity on (0 … 1) an item counts as reworded, not as replaced."""
_MAX_PAIRS = 4_000  # comparisons of items; beyond it only equal items are matched


def diff_summaries(previous: str, current: str) -> SummaryDiff:
    """Compare two bare summaries; items match by their words, not by their order."""
    old = _entries(parse_sections(previous))
    new = _entries(parse_sections(current))
    pairs = _match_equal(old, new)
    pairs |= _match_similar(old, new, pairs)
    paths = _paths(old, new)
    return SummaryDiff(
        sections=tuple(_section(path, old, new, pairs) for path in paths)
    )


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    text: str


def _entries(sections: Sequence[Section]) -> list[_Entry]:
    return [_Entry(s.path, item) for s in sections for item in s.items]


def _normal(text: str) -> str:
    return " ".join(re.sub(r"[`*_]", "", text).lower().split()).rstrip(".;")


def _match_equal(old: Sequence[_Entry], new: Sequence[_Entry]) -> dict[int, int]:
    """Pair equal items, those under the same heading first: new index -> old index."""
    pairs: dict[int, int] = {}
    for same_path in (True, False):
        free: dict[tuple[str, str], list[int]] = {}
        for index, entry in enumerate(old):
            if index not in pairs.values():
                free.setdefault(_key(entry, same_path=same_path), []).append(index)
        for index, entry in enumerate(new):
            waiting = free.get(_key(entry, same_path=same_path))
            if index not in pairs and waiting:
                pairs[index] = waiting.pop(0)
    return pairs


def _key(entry: _Entry, *, same_path: bool) -> tuple[str, str]:
    return (entry.path if same_path else "", _normal(entry.text))


def _match_similar(
    old: Sequence[_Entry], new: Sequence[_Entry], pairs: dict[int, int]
) -> dict[int, int]:
    taken = set(pairs.values())
    left_old = [i for i in range(len(old)) if i not in taken]
    left_new = [i for i in range(len(new)) if i not in pairs]
    if len(left_old) * len(left_new) > _MAX_PAIRS:
        return {}
    scored = sorted(
        ((_likeness(old[o], new[n]), n, o) for n in left_new for o in left_old),
        reverse=True,
    )
    found: dict[int, int] = {}
    for likeness, n, o in scored:
        if likeness < SAME_WORDS:
            break
        if n not in found and o not in found.values():
            found[n] = o
    return found


def _likeness(old: _Entry, new: _Entry) -> float:
    matcher = SequenceMatcher(None, _words(old.text), _words(new.text), autojunk=False)
    if matcher.quick_ratio() < SAME_WORDS:
        return 0.0
    bonus = 0.05 if old.path == new.path else 0.0
    return matcher.ratio() + bonus


_WORD = re.compile(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+\s*|\s+")


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:2_000])


def _paths(old: Sequence[_Entry], new: Sequence[_Entry]) -> list[str]:
    return list(dict.fromkeys([e.path for e in new] + [e.path for e in old]))


def _section(
    path: str,
    old: Sequence[_Entry],
    new: Sequence[_Entry],
    pairs: dict[int, int],
) -> DiffSection:
    items = [
        _item(entry, old[pairs[index]] if index in pairs else None)
        for index, entry in enumerate(new)
        if entry.path == path
    ]
    taken = set(pairs.values())
    items += [
        DiffItem(change=Change.GONE, before=entry.text)
        for index, entry in enumerate(old)
        if entry.path == path and index not in taken
    ]
    return DiffSection(
        path=path, items=tuple(item for item in items if not _says_nothing(item))
    )


_NOTHING = frozenset({"none", "none currently", "n/a", "-", "无"})


def _says_nothing(item: DiffItem) -> bool:
    """A "None" that came or went is no change: the items beside it say it all."""
    came_or_went = item.change in (Change.ADDED, Change.GONE)
    return came_or_went and _normal(item.before or item.after) in _NOTHING


def _item(new: _Entry, old: _Entry | None) -> DiffItem:
    if old is None:
        return DiffItem(change=Change.ADDED, after=new.text)
    same = _normal(old.text) == _normal(new.text)
    moved_from = old.path if old.path != new.path else ""
    stayed = Change.KEPT if same else Change.REWORDED
    change = Change.MOVED if moved_from else stayed
    return DiffItem(
        change=change,
        before=old.text,
        after=new.text,
        moved_from=moved_from,
        words=() if same else _word_runs(old.text, new.text),
    )


def _word_runs(before: str, after: str) -> tuple[tuple[str, str], ...]:
    old, new = _words(before), _words(after)
    runs: list[tuple[str, str]] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            runs.append(("equal", "".join(new[j1:j2])))
            continue
        if i2 > i1:
            runs.append(("delete", "".join(old[i1:i2])))
        if j2 > j1:
            runs.append(("insert", "".join(new[j1:j2])))
    return tuple(runs)
