"""Tool results as lines: JSON is taken apart, so that every value has its name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_LARGEST = 2_000_000  # characters of JSON that are read
_MOST_LEAVES = 400
_DEEPEST = 8
_TEXTS = ("output", "stdout", "stderr", "error", "content", "result", "text", "message")
_SCALARS = (str, int, float, bool, type(None))
_LINE_CHARS = 150
_NOISE = frozenset({"duration_seconds", "duration_ms", "elapsed", "elapsed_ms"})
_CODES = ("exit_code", "exitCode", "returncode", "return_code", "status_code")


def unwrapped(text: str) -> str:
    """Return a result's own text: the output of a command, or `name: value` lines."""
    if text[:1] not in ("{", "[") or len(text) > _LARGEST:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, Mapping):
        return _of_object(value)
    return "\n".join(_lines(value, "")) or text


def _of_object(value: Mapping[str, Any]) -> str:
    texts = [value[name] for name in _TEXTS if isinstance(value.get(name), str)]
    if any("\n" in text or len(text) > 80 for text in texts):
        return "\n".join([*texts, *_codes(value)])
    return "\n".join(_lines(value, ""))


def _codes(value: Mapping[str, Any]) -> Iterator[str]:
    metadata = value.get("metadata")
    for place in (value, metadata if isinstance(metadata, Mapping) else {}):
        for name in _CODES:
            if isinstance(place.get(name), int):
                yield f"{name}: {place[name]}"


def _lines(value: Any, name: str) -> list[str]:
    lines: list[str] = []
    _add(lines, value, name, 0)
    return lines


def _add(lines: list[str], value: Any, name: str, depth: int) -> None:
    if len(lines) >= _MOST_LEAVES or depth > _DEEPEST or value is None:
        return
    if isinstance(value, Mapping):
        _add_object(lines, value, name, depth)
    elif isinstance(value, list) and not all(isinstance(v, _SCALARS) for v in value):
        for number, item in enumerate(value):
            _add(lines, item, f"{name}[{number}]", depth + 1)
    else:
        listed = (
            ", ".join(str(v) for v in value[:40]) if isinstance(value, list) else value
        )
        lines.append(f"{name}: {listed}" if name else str(listed))


def _add_object(
    lines: list[str], value: Mapping[str, Any], name: str, depth: int
) -> None:
    """Write a small object on one line: its values explain each other."""
    told = {key: item for key, item in value.items() if key not in _NOISE}
    if name and all(isinstance(item, _SCALARS) for item in told.values()):
        line = f"{name}: " + ", ".join(f"{key}={item}" for key, item in told.items())
        if len(line) <= _LINE_CHARS:
            lines.append(line)
            return
    for key, item in told.items():
        _add(lines, item, f"{name}.{key}" if name else str(key), depth + 1)
