"""Commands that were run, how they ended, and which tools were used how often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from compaction.engine.evidence.items import (
    WEIGHTS,
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.reading import CallSeen, Turn
from compaction.engine.evidence.shell_lines import bare_command, is_trivial
from compaction.engine.evidence.tool_names import (
    COMMAND_ARGUMENTS,
    Act,
    act_of,
    text_argument,
)

_EXIT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|return ?code|exit_code|exitCode)"
    r"[\"']?\s{0,3}[>:= ]\s{0,3}[\"']?(-?\d{1,5})\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"Traceback \(most recent|command not found|^(?:fatal|error):|npm ERR!|\bFAILED\b"
    r"|Segmentation fault|panic:",
    re.MULTILINE,
)
_TESTS = re.compile(
    r"(?:\d{1,6} (?:passed|failed|errors?|skipped|warnings?)(?:, )?){1,5}"
    r"|Tests?:\s{1,10}\d[^\n]{0,60}|OK \(\d{1,6} tests?[^\n)]{0,40}\)"
    r"|Ran \d{1,6} tests?"
)
_LOOK = 2_000  # characters at either end of an output


def end_of(turn: Turn) -> str:
    """Say how a command ended, by its output: `exit 1`, `3 passed`, '' if unknown."""
    return _end_of(f"{turn.text[:_LOOK]}\n{turn.text[-_LOOK:]}", turn.failed)


@lru_cache(maxsize=2_048)
def _end_of(ends: str, told_failed: bool, /) -> str:  # noqa: FBT001
    code = _EXIT.search(ends)
    tests = _TESTS.search(ends)
    failed = told_failed or _FAILED.search(ends)
    parts = [f"exit {code[1]}" if code else "failed" if failed else ""]
    parts.append(" ".join(tests.group().rstrip(", ").split()) if tests else "")
    return ", ".join(part for part in parts if part)


def has_failed(end: str) -> bool:
    """True for an end that is a failure."""
    if "failed" in end or "error" in end:
        return True
    return end.startswith("exit ") and not end.startswith("exit 0")


def command_of(call: CallSeen) -> str:
    """Return the command line of a call, '' when it runs none."""
    if act_of(call.name, call.arguments) is not Act.RUN:
        return ""
    return bare_command(text_argument(call.arguments, COMMAND_ARGUMENTS))


def only_reads(call: CallSeen) -> bool:
    """True for a call that shows what lies in files: its result is code and text."""
    act = act_of(call.name, call.arguments)
    if act is Act.RUN:
        command = text_argument(call.arguments, COMMAND_ARGUMENTS)
        return bool(command) and is_trivial(command)
    return act in (Act.READ, Act.SEARCH)


def extract_commands(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield each command once, with its last end and how often it ran."""
    runs: Counter[str] = Counter()
    first: dict[str, int] = {}
    last: dict[str, Turn] = {}
    for turn in turns:
        command = command_of(turn.answers) if turn.answers else ""
        if command:
            runs[command] += 1
            first.setdefault(command, turn.position)
            last[command] = turn
    for command, turn in last.items():
        if not is_trivial(command):
            item = _item(command, turn, runs[command])
            yield item.evolve(since=first[command])


def _item(command: str, turn: Turn, count: int) -> EvidenceItem:
    end = end_of(turn)
    failed = has_failed(end)
    factor = 1.25 if failed else 0.9 if end else 0.6
    times = f" (×{count})" if count > 1 else ""
    return EvidenceItem(
        kind=EvidenceKind.COMMAND,
        text=command,
        position=turn.position,
        weight=WEIGHTS[EvidenceKind.COMMAND] * factor,
        status=EvidenceStatus.LIVE if failed else EvidenceStatus.RESOLVED,
        key=command,
        note=f"{end or 'ran'}{times}",
    )


def extract_tools(turns: Sequence[Turn]) -> Iterator[EvidenceItem]:
    """Yield which tools were used and how often."""
    used = Counter(call.name for turn in turns for call in turn.calls if call.name)
    for name, count in used.most_common(12):
        yield EvidenceItem(
            kind=EvidenceKind.TOOL,
            text=name[:80],
            weight=WEIGHTS[EvidenceKind.TOOL],
            key=name,
            note=f"×{count}",
        )
