"""JSON from files that nobody vouches for: bounded, with the line of every fault."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from compaction.sources.values import SourceError, SourceLimits

_BLANK = b" \t\r\n\x00"
_UTF8_MARK = b"\xef\xbb\xbf"


def _finite(literal: str) -> float | None:
    number = float(literal)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(parse_constant=lambda _name: None, parse_float=_finite)
"""NaN and Infinity are no JSON and no database takes them: they are read as null."""


def decode(raw: bytes | str, *, depth: int = 100) -> Any:
    """Parse a small JSON value that stands inside a record; raises ValueError.

    Lone surrogates pass, also as raw bytes; they are kept as read.
    """
    try:
        value = _load(raw)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if _may_be_deeper_than(raw, depth) and is_deeper_than(value, depth):
        raise ValueError("nested too deep")
    return value


def _may_be_deeper_than(raw: bytes | str, depth: int) -> bool:
    """Tell by counting brackets, which is far cheaper than walking the value."""
    if isinstance(raw, bytes):
        return raw.count(b"[") + raw.count(b"{") > depth
    return raw.count("[") + raw.count("{") > depth


def _load(raw: bytes | str) -> Any:
    if isinstance(raw, bytes):
        raw = raw.removeprefix(_UTF8_MARK).decode("utf-8", "surrogatepass")
    return _DECODER.decode(raw)


def parse(raw: bytes | str, path: Path, limits: SourceLimits, *, line: int = 0) -> Any:
    """Parse one JSON value or say in which line of which file it is broken.

    `line` is the line of a JSON-lines record; 0 takes the line inside the value.
    """
    try:
        value = _load(raw)
    except json.JSONDecodeError as exc:
        detail = f"{exc.msg} (column {exc.colno})"
        raise SourceError(
            str(path), "broken", detail, line=line or exc.lineno
        ) from None
    except UnicodeDecodeError as exc:
        place = line or raw[: exc.start].count(b"\n") + 1  # type: ignore[arg-type]
        detail = "not UTF-8 text"
        raise SourceError(str(path), "broken", detail, line=place) from None
    except RecursionError:
        raise _too_deep(path, limits, line) from None
    except ValueError as exc:  # a number of thousands of digits
        raise SourceError(str(path), "broken", str(exc), line=line or None) from None
    if _may_be_deeper_than(raw, limits.depth) and is_deeper_than(value, limits.depth):
        raise _too_deep(path, limits, line)
    return value


def _too_deep(path: Path, limits: SourceLimits, line: int) -> SourceError:
    detail = f"values nested deeper than {limits.depth} levels"
    return SourceError(str(path), "too_deep", detail, line=line or None)


def is_deeper_than(value: object, limit: int) -> bool:
    """Say whether containers are nested deeper than `limit`; never recurses."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        if not level:
            return False
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
    return bool(level)


def read_document(path: Path, limits: SourceLimits) -> Any:
    """Read a file that is one JSON value."""
    size = path.stat().st_size
    if size > limits.document_bytes:
        raise too_large(path, size, limits.document_bytes)
    return parse(path.read_bytes().rstrip(_BLANK), path, limits)


def too_large(path: Path, size: int, limit: int) -> SourceError:
    """Return the refusal of a file that is over a limit (both in bytes)."""
    return SourceError(str(path), "too_large", f"{size:,} bytes, limit {limit:,}")


class JsonLines:
    """The records of a JSON-lines file, one at a time, each with its line number.

    A last line without line end that does not parse is what a growing file looks like
    while it is written: it is left out and `notes` says so. Any other broken line is
    an error. Blank lines (also runs of NUL, left by a crash) count but hold nothing.
    """

    def __init__(self, path: Path, limits: SourceLimits) -> None:
        self.path = path
        self.limits = limits
        self.notes: list[str] = []
        self.offset = 0  # of the record that was given last, bytes

    def __iter__(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        seen = 0
        with self.path.open("rb") as stream:
            for line, raw in self._raw_lines(stream):
                record = self._record(raw, line, is_first=seen == 0)
                if record is None:
                    return
                seen += 1
                yield line, record

    def _raw_lines(self, stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
        line, start = 0, 0
        while raw := stream.readline(self.limits.line_bytes + 1):
            line += 1
            self.offset, start = start, start + len(raw)
            if len(raw) > self.limits.line_bytes:
                detail = f"a line of more than {self.limits.line_bytes:,} bytes"
                raise SourceError(str(self.path), "too_large", detail, line=line)
            if raw.strip(_BLANK):
                yield line, raw

    def _record(
        self, raw: bytes, line: int, *, is_first: bool
    ) -> Mapping[str, Any] | None:
        try:
            record = parse(raw, self.path, self.limits, line=line)
        except SourceError as error:
            if is_first or raw.endswith(b"\n") or error.reason != "broken":
                raise
            self.notes.append(f"truncated_last_line:{line}")
            return None
        if not isinstance(record, Mapping):
            detail = f"expected an object, found {type(record).__name__}"
            raise SourceError(str(self.path), "broken", detail, line=line)
        return record
