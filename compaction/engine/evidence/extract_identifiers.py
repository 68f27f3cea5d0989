"""Exact values that cannot be guessed again: hashes, ids, ports, versions, amounts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from compaction.engine.evidence.extract_commands import only_reads
from compaction.engine.evidence.items import WEIGHTS, EvidenceItem, EvidenceKind
from compaction.engine.evidence.reading import Turn
from compaction.engine.evidence.wording import around, sentence_lines

LINE_CHARS = 150
_MOST_OF_A_LINE = 24
_MOST_OF_A_RESULT = 10
_MOST_OF_SPEECH = 14
_BULK = 40  # a result with more lines of values than this is a listing

# name, how much it matters, pattern; in order, the first that matches a place wins
_PATTERNS: tuple[tuple[str, float, str], ...] = (
    ("url", 0.9, r"https?://[^\s\"'`<>()\[\]{}]{4,160}[^\s\"'`<>()\[\]{}.,;:!?]"),
    ("uuid", 1.0, r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"),
    ("date", 0.7, r"\b(?:19|20)\d\d[-/.]\d\d?[-/.]\d\d?(?:[T ]\d\d:\d\d(?::\d\d)?)?\b"),
    ("hash", 1.0, r"\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,64}\b"),
    ("address", 1.0, r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?\b|\blocalhost:\d{2,5}\b"),
    ("port", 1.0, r"\bports?\b[^\n\d]{0,16}\d{2,5}\b|端口[^\n\d]{0,8}\d{2,5}"),
    ("ticket", 1.0, r"\b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b|(?<![\w&#])#\d{1,7}\b"),
    ("version", 0.9, r"\bv?\d{1,4}\.\d{1,5}(?:\.\d{1,5}){0,2}(?:[-+][\w.]{1,20})?\b"),
    (
        "amount",
        0.9,
        r"[$€£¥]\s?\d[\d,.]*\d?\b|\b\d[\d,.]{0,14} ?(?:%|USD|EUR|CNY|RMB|ms|seconds?"
        r"|minutes?|hours?|days?|weeks?|[KMGT]i?B|元|万元|毫秒|秒|分钟|小时|天|个月)(?!\w)",
    ),
    (
        "id",
        1.0,
        r"\b(?=[\w-]{0,30}[A-Za-z])(?=[\w-]{0,30}\d)[A-Za-z0-9]{1,24}"
        r"(?:[-_][A-Za-z0-9]{1,24}){1,5}\b",
    ),
    ("number", 0.6, r"\b\d{4,15}\b"),
    (
        "setting",
        0.8,
        r"\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}\s{0,2}=\s{0,2}\S{1,60}",
    ),
)
_VALUE = re.compile("|".join(f"(?P<{name}>{body})" for name, _, body in _PATTERNS))
_WORTH_A_LOOK = re.compile(r"\d|://|[A-Z]_[A-Z]")
_MATTERS = {name: weight for name, weight, _ in _PATTERNS}


@dataclass(frozen=True, slots=True)
class Value:
    """One exact value and the line that says what it is."""

    text: str
    what: str
    line: str


def values_in(text: str) -> Iterator[Value]:
    """Yield the exact values of a text, each with the line around it."""
    for line in text.splitlines():
        if len(line) < 4 or not _WORTH_A_LOOK.search(line):
            continue
        for match in islice(_VALUE.finditer(line[:4_000]), _MOST_OF_A_LINE):
            yield Value(
                match.group().strip(),
                match.lastgroup or "",
                quote(line, match.start(), match.end()),
            )


_MARGIN = re.compile(r"^\s*(?:\d{1,6}[:|\t→]\s*)?(?:[-*•+>#]{1,3}\s+|//\s*|/?\*+\s*)?")


def quote(line: str, start: int, end: int) -> str:
    """Return what of a line says what the value in it is, without its margin."""
    part = _MARGIN.sub("", around(line, start, end, LINE_CHARS), count=1)
    return " ".join(part.split())


def extract_identifiers(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield exact values; one that the agent or the user spoke of weighs more."""
    spoken: Counter[str] = Counter()
    for turn in turns:
        if not turn.is_result:
            spoken.update(
                {value.text for value in values_in(sentence_lines(turn.text))}
            )
    for turn in turns:
        yield from _of_turn(turn, spoken)


def _of_turn(turn: Turn, spoken: Counter[str]) -> Iterator[EvidenceItem]:
    text = turn.text if turn.is_result else sentence_lines(turn.text)
    values = list(values_in(text))
    if turn.answers is not None and only_reads(turn.answers):
        values = [value for value in values if not _is_code(value)]
    listing = turn.is_result and len(values) > _BULK
    if turn.is_result:
        values = [v for v in values if not listing or v.text in spoken] or values[:3]
    best: dict[str, EvidenceItem] = {}
    for value in values:
        item = _item(value, turn, spoken[value.text], listing=listing)
        known = best.get(value.text)
        if known is None or item.weight > known.weight:
            best[value.text] = item
    most = _MOST_OF_A_RESULT if turn.is_result else _MOST_OF_SPEECH
    yield from sorted(best.values(), key=lambda item: -item.weight)[:most]


_VAGUE = frozenset({"id", "amount", "number", "date"})
_CODE_CHARS = re.compile(r"[;{}()=<>\"'\[\]]")


def _is_code(value: Value) -> bool:
    """True for what every program is full of: names with digits, small numbers."""
    return value.what in _VAGUE and _CODE_CHARS.search(value.line) is not None


def _item(value: Value, turn: Turn, mentions: int, *, listing: bool) -> EvidenceItem:
    weight = WEIGHTS[EvidenceKind.IDENTIFIER] * _MATTERS[value.what]
    weight *= _trust(turn, value) * (0.5 if listing else 1.0)
    weight += min(12, 4 * max(0, mentions - (not turn.is_result)))
    return EvidenceItem(
        kind=EvidenceKind.IDENTIFIER,
        text=value.line,
        position=turn.position,
        weight=weight,
        key=value.text,
        note=value.what,
    )


def _trust(turn: Turn, value: Value) -> float:
    """Speech says what matters; what is only read as code mostly does not."""
    if not turn.is_result:
        return 1.15 if turn.by_user else 1.0
    if turn.answers is None or not only_reads(turn.answers):
        return 0.9
    return 0.45 if _CODE_CHARS.search(value.line) else 0.75
