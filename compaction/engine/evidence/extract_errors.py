"""Error lines, word for word, out of what tools returned or somebody quoted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from compaction.engine.evidence.extract_commands import (
    command_of,
    end_of,
    has_failed,
    only_reads,
)
from compaction.engine.evidence.items import (
    WEIGHTS,
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.reading import Turn
from compaction.engine.evidence.wording import around

ERROR_CHARS = 220
_MOST_OF_A_MESSAGE = 5

_STRONG = re.compile(
    r"\b[A-Z]\w{0,60}(?:Error|Exception|Failure|Fault|Timeout|Denied|Refused)\b"
    r"(?:[:(]|$|\s-)"
    r"|\b(?:fatal|panic|ERROR|FATAL|CRITICAL|SEVERE|npm ERR!|npm error):?\s"
    r"|\berror(?:\[\w{1,10}\])?:\s"
    r"|\b(?:TS|CS|E|C|ERR_|ORA-|SQLSTATE\[)\d{2,6}\b|^FAILED |\bSegmentation fault\b"
    r"|\bHTTP/?[\d.]* [45]\d\d\b"
    r"|\b[45]\d\d (?:Bad|Unauthorized|Forbidden|Not Found|Internal)"
    r"|错误[:：]|异常[:：]|报错|失败[:：]"
)
_WEAK = re.compile(
    r"\b(?:error|errors|failed|failure|exception|denied|refused|timed? ?out|not found"
    r"|no such file|cannot|can't|unable to|undefined|invalid|missing|unexpected|aborted"
    r"|rejected|unreachable|conflict|crash(?:ed)?|overflow|deadlock|corrupt(?:ed)?"
    r"|violat(?:es|ion)|mismatch|expired|unavailable|killed|out of memory)\b"
    r"|错误|失败|异常|超时|拒绝|无法|找不到|不存在|崩溃|冲突|溢出",
    re.IGNORECASE,
)
_NO_ERROR = re.compile(
    r"\b(?:0|no|zero|without) (?:errors?|failures?|issues?|problems?)\b|\berrors?: ?0\b"
    r"|没有错误|无错误|0 failed",
    re.IGNORECASE,
)
_LOGGED = re.compile(
    r"\s{0,8}(?:\d{1,6}[:|\t]\s?)?(?:[\w.]{1,80}(?:Error|Exception): \S"
    r"|\[?\d{4}-\d\d-\d\d[^\n]{0,60}\b(?:ERROR|FATAL|CRITICAL|error|failed)\b"
    r"|\[?(?:ERROR|FATAL|CRITICAL)\b)"
)
"""An error within a file that was only read: a line of a log, not of a program."""
_CODE = re.compile(
    r"^\s*(?:\d{1,6}[:|\t]?\s+)?(?:(?:raise|except|throw|catch|class|def|function|import"
    r"|from|return|if|elif|else|assert|const|let|var|public|private|static|logger|log"
    r"|console|self|this)\b|#|//|\*|/\*|@|<)|[{;]\s*$|=>|\)\s*:\s*$"
)


def extract_errors(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield error lines; one whose command succeeded later is resolved."""
    repaired = _succeeded_later(turns)
    for turn in turns:
        if turn.is_result:
            yield from _of_result(turn, repaired)
        elif turn.text:
            yield from _of_speech(turn)


def is_error(line: str) -> bool:
    """True when anybody would know a line for an error."""
    return _STRONG.search(line) is not None or line[:6].lower() == "error:"


def _succeeded_later(turns: Sequence[Turn]) -> dict[str, int]:
    """Return each command that succeeded, with the position where it did last."""
    return {
        command_of(turn.answers): turn.position
        for turn in turns
        if turn.answers and not has_failed(end_of(turn)) and command_of(turn.answers)
    }


def _of_result(turn: Turn, repaired: dict[str, int]) -> Iterator[EvidenceItem]:
    reads = turn.answers is not None and only_reads(turn.answers)
    command = command_of(turn.answers) if turn.answers else ""
    repaired_at = repaired.get(command, -1) if command else -1
    failed = turn.failed or has_failed(end_of(turn))
    is_code = reads and not failed
    for line, strength in _error_lines(turn.text, is_code=is_code)[:_MOST_OF_A_MESSAGE]:
        item = _item(line, turn, strength * (1.1 if failed else 1.0))
        yield _repaired(item, repaired_at) if repaired_at > turn.position else item


def _of_speech(turn: Turn) -> Iterator[EvidenceItem]:
    lines = [
        found for found in _error_lines(turn.text, is_code=False) if found[1] >= 1.0
    ]
    for line, strength in lines[:3]:
        yield _item(line, turn, strength)


def _error_lines(text: str, *, is_code: bool) -> list[tuple[str, float]]:
    """Return the error lines of a text, the strongest and the latest first."""
    found: dict[str, tuple[float, int]] = {}
    shapes: Counter[str] = Counter()
    for number, line in enumerate(_suspects(text)):
        strength, match = _strength(line, is_code=is_code)
        if match is not None and _is_new(line, shapes):
            quoted = around(line, match.start(), match.end(), ERROR_CHARS)
            found[quoted] = (strength, number)
    ordered = sorted(found.items(), key=lambda entry: entry[1], reverse=True)
    return [(line, strength) for line, (strength, _) in ordered]


def _is_new(line: str, shapes: Counter[str]) -> bool:
    """False from the third line on that differs from others only in its numbers."""
    shape = _NUMBER.sub("#", line[:300])
    shapes[shape] += 1
    return shapes[shape] <= _MOST_OF_A_SHAPE


_NUMBER = re.compile(r"\d+")
_MOST_OF_A_SHAPE = 2
_STEMS = (
    *("error", "fail", "exception", "denied", "refused", "timeout", "timed out"),
    *("time out", "not found", "no such", "cannot", "can't", "unable", "undefined"),
    *("invalid", "missing", "unexpected", "abort", "reject", "unreachable", "conflict"),
    *("crash", "overflow", "deadlock", "corrupt", "violat", "mismatch", "expired"),
    *("unavailable", "killed", "out of memory", "fatal", "panic", "critical", "severe"),
    *("npm err", "segmentation", "fault", "http", "unauthorized", "forbidden", "ora-"),
    *("sqlstate", "bad request", "internal", "错误", "失败", "异常", "报错", "超时"),
    *("拒绝", "无法", "找不到", "不存在", "崩溃", "冲突", "溢出"),
)
"""What every error line has one of; looked for before any pattern is tried."""


def _suspects(text: str) -> Iterator[str]:
    lowered = text.lower()
    present = [stem for stem in _STEMS if stem in lowered]
    if present:
        for line in text.splitlines():
            small = line.lower()
            if any(stem in small for stem in present):
                yield line


def _strength(line: str, *, is_code: bool) -> tuple[float, re.Match[str] | None]:
    if not 6 <= len(line) <= 2_000 or _NO_ERROR.search(line):
        return 0.0, None
    if is_code:
        logged = _LOGGED.match(line)
        return (0.8 if logged else 0.0), logged
    strong = _STRONG.search(line)
    found = strong or _WEAK.search(line)
    if found is None or _CODE.search(line):
        return 0.0, None
    return (1.0 if strong else 0.6), found


def _item(line: str, turn: Turn, strength: float) -> EvidenceItem:
    return EvidenceItem(
        kind=EvidenceKind.ERROR,
        text=line,
        position=turn.position,
        weight=WEIGHTS[EvidenceKind.ERROR] * strength,
        key=line,
    )


def _repaired(item: EvidenceItem, position: int) -> EvidenceItem:
    """The error as one that was gone when its command ran again."""
    return item.evolve(
        status=EvidenceStatus.RESOLVED, weight=item.weight * 0.5, ended_at=position
    )
