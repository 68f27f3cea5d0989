"""A look at a file before it is read: enough to tell its format by its content."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from compaction.sources.json_input import JsonLines, read_document, too_large
from compaction.sources.values import SourceError, SourceLimits

SQLITE_MAGIC = b"SQLite format 3\x00"
_RECORDS = 40  # a log may begin with dozens of records that are not messages
_BLANK = b" \t\r\n\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What the start of a file shows.

    `document` is the whole value of a file that is one JSON value (then the reader
    need not parse it again); `records` are the first objects of a JSON-lines file.
    A file of a single line is both.
    """

    path: Path
    size: int  # bytes
    is_sqlite: bool = False
    document: Any = None
    records: tuple[Mapping[str, Any], ...] = ()
    limits: SourceLimits = field(default_factory=SourceLimits)

    def lines(self) -> JsonLines:
        """Return the records of the file, to be read from the beginning."""
        return JsonLines(self.path, self.limits)

    def failure(
        self, detail: str, *, reason: str = "broken", line: int | None = None
    ) -> SourceError:
        """Return the error of this file to raise."""
        return SourceError(str(self.path), reason, detail, line=line)

    def check_count(self, messages: int) -> None:
        """Refuse a conversation of more messages than the limit."""
        if messages > self.limits.messages:
            detail = f"more than {self.limits.messages:,} messages in one conversation"
            raise self.failure(detail, reason="too_large")


def take_sample(path: Path, limits: SourceLimits) -> Sample:
    """Look at a file; raises SourceError when it cannot be a log at all."""
    size = _size_of(path, limits)
    head = _head_of(path)
    if head.startswith(SQLITE_MAGIC):
        return Sample(path=path, size=size, is_sqlite=True, limits=limits)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip(_BLANK)
    if not start:
        if size > len(head):
            raise _unknown(path, "the file begins with nothing but blanks")
        raise SourceError(str(path), "empty", "the file holds no data")
    if start[:1] not in b"{[":
        raise _unknown(path, "neither JSON, JSON lines nor a SQLite database")
    return _json_sample(path, size, limits)


def _size_of(path: Path, limits: SourceLimits) -> int:
    try:
        found = path.stat()
    except FileNotFoundError:
        raise SourceError(str(path), "not_found", "no such file") from None
    except (OSError, ValueError) as exc:
        raise SourceError(str(path), "not_readable", _why(exc)) from None
    if stat.S_ISDIR(found.st_mode):
        detail = "a directory; name a file in it"
        raise SourceError(str(path), "not_readable", detail)
    if not stat.S_ISREG(found.st_mode):
        raise SourceError(str(path), "not_readable", "not a regular file")
    if found.st_size == 0:
        raise SourceError(str(path), "empty", "the file holds no data")
    if found.st_size > limits.file_bytes:
        raise too_large(path, found.st_size, limits.file_bytes)
    return found.st_size


def _why(exc: Exception) -> str:
    number = getattr(exc, "errno", None)
    return os.strerror(number) if number else str(exc)


def _head_of(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(64 * 1024)
    except OSError as exc:
        raise SourceError(str(path), "not_readable", _why(exc)) from None


def _unknown(path: Path, detail: str) -> SourceError:
    return SourceError(str(path), "unknown_format", detail)


def _json_sample(path: Path, size: int, limits: SourceLimits) -> Sample:
    records = _first_records(path, limits)
    if not records:
        document = read_document(path, limits)
        return Sample(path=path, size=size, document=document, limits=limits)
    document = records[0] if len(records) == 1 else None
    return Sample(
        path=path, size=size, records=records, document=document, limits=limits
    )


def _first_records(path: Path, limits: SourceLimits) -> tuple[Mapping[str, Any], ...]:
    """Read the first records; none when the first line is not an object by itself."""
    found: list[Mapping[str, Any]] = []
    try:
        found.extend(record for _, record in _some(path, limits))
    except SourceError:
        if not found:
            return ()
        raise
    return tuple(found)


def _some(path: Path, limits: SourceLimits) -> Iterator[tuple[int, Mapping[str, Any]]]:
    return islice(JsonLines(path, limits), _RECORDS)
