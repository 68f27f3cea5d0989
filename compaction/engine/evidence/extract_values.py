"""Values deep in the arguments of tools: a region, a limit, a flag that was chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.engine.evidence.extract_identifiers import values_in
from compaction.engine.evidence.items import WEIGHTS, EvidenceItem, EvidenceKind
from compaction.engine.evidence.reading import CallSeen, Turn
from compaction.engine.evidence.tool_names import (
    COMMAND_ARGUMENTS,
    DESTINATION_ARGUMENTS,
    PATH_ARGUMENTS,
    Act,
    act_of,
)
from compaction.engine.evidence.wording import one_line, words

LEAF_CHARS = 90
CALL_CHARS = 260
_MOST_LEAVES = 12
_DEEPEST = 6
_MOST_TEXT_VALUES = 3  # out of one long text in the arguments

_TOLD_ELSEWHERE = frozenset(
    PATH_ARGUMENTS + DESTINATION_ARGUMENTS + COMMAND_ARGUMENTS
) | words("description explanation thought reason workdir timeout restart limit offset")


def extract_values(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield the arguments of calls that neither files nor commands tell."""
    for turn in turns:
        for call in turn.calls:
            act = act_of(call.name, call.arguments)
            if act is not Act.TODO:
                yield from _of_call(call, act)


def _of_call(call: CallSeen, act: Act) -> Iterator[EvidenceItem]:
    short: list[str] = []
    for path, value in _leaves(call.arguments, ""):
        if len(value) <= LEAF_CHARS and "\n" not in value:
            short.append(f"{_short(path)}={value}")
        else:
            yield from _of_text(call, value)
        if len(short) >= _MOST_LEAVES:
            break
    if short:
        text = one_line(f"{call.name}: {', '.join(short)}", CALL_CHARS)
        yield _item(call, text, 1.0 if act is Act.OTHER else 0.7)


def _short(path: str) -> str:
    """Return the end of a path of names: two of them tell what a value is."""
    return ".".join(path.rsplit(".", 2)[-2:])


def _of_text(call: CallSeen, text: str) -> Iterator[EvidenceItem]:
    """Yield the most exact values of a long text, such as the body of a new file."""
    found: dict[str, str] = {}
    for value in values_in(text):
        if value.what not in ("number", "amount") and len(found) < _MOST_TEXT_VALUES:
            found.setdefault(value.text, value.line)
    for line in dict.fromkeys(found.values()):
        yield _item(call, line, 0.6)


def _item(call: CallSeen, text: str, factor: float) -> EvidenceItem:
    return EvidenceItem(
        kind=EvidenceKind.VALUE,
        text=text,
        position=call.position,
        weight=WEIGHTS[EvidenceKind.VALUE] * factor,
        key=text,
    )


def _leaves(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the scalars in nested arguments, without what is known."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, item in list(value.items())[:40]:
            if depth or key not in _TOLD_ELSEWHERE:
                yield from _leaves(
                    item, f"{path}.{key}" if path else str(key), depth + 1
                )
    elif isinstance(value, list):
        for number, item in enumerate(value[:12]):
            yield from _leaves(item, f"{path}[{number}]", depth + 1)
    elif value is not None and value is not False and value != "":
        yield path, value if isinstance(value, str) else str(value)
