"""What a tool call reads: two calls that read the same give equal values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compaction.engine.evidence.extract_files import acts_of_call
from compaction.engine.evidence.reading import CallSeen
from compaction.engine.evidence.shell_lines import (
    bare_command,
    file_acts,
    first_word,
    is_trivial,
)
from compaction.engine.evidence.tool_names import (
    COMMAND_ARGUMENTS,
    PATH_ARGUMENTS,
    Act,
    act_of,
    bare_name,
    text_argument,
)
from compaction.engine.evidence.wording import words

WHAT_CHARS = 200
_NOISE = words("description explanation thought reason timeout restart workdir cwd")
_SEARCHING = words("grep rg find awk ag")
_FETCHING = words(
    "get fetch query lookup list load show describe download open browse read search"
)
_PATH_IN_PART = re.compile(
    r"\"(?:" + "|".join(PATH_ARGUMENTS) + r")\"\s{0,2}:\s{0,2}\"([^\"\\]{1,190})\""
)
_COMMAND_IN_PART = re.compile(r"\"command\"\s{0,2}:\s{0,2}\"(\w{1,40})\"")


@dataclass(frozen=True, slots=True)
class Reading:
    """Something that was read; equal values read the same.

    `what` names it for people: a path, a command, or a tool with its arguments.
    """

    what: str
    how: str = ""
    paths: tuple[str, ...] = ()


def reading_of(name: str, arguments: str) -> Reading | None:
    """Return what a call reads, None for one that does something else.

    `arguments` is JSON; what was cut cannot be compared and counts as no reading.
    """
    given = _load(arguments)
    if not given:
        return None
    act = act_of(name, given)
    if act is Act.RUN:
        return _of_command(text_argument(given, COMMAND_ARGUMENTS))
    path = text_argument(given, PATH_ARGUMENTS)
    told = {k: v for k, v in given.items() if k not in _NOISE}
    if act is Act.READ and path:
        rest = {k: v for k, v in told.items() if k not in PATH_ARGUMENTS}
        return Reading(path[:WHAT_CHARS], _canonical(rest), (path,))
    if told and (act in (Act.READ, Act.SEARCH) or _fetches(act, name)):
        return Reading(f"{name} {_canonical(told)}"[:WHAT_CHARS], _canonical(told))
    return None


def _of_command(command: str) -> Reading | None:
    """A command that only looks, and looks into files."""
    if not command or not is_trivial(command):
        return None
    paths = tuple(path for act, path in file_acts(command) if act is Act.READ)
    searches = any(first_word(part) in _SEARCHING for part in command.split("|"))
    if not paths and not searches:
        return None
    bare = bare_command(command)
    return Reading(bare[:WHAT_CHARS], bare, paths)


def _fetches(act: Act, name: str) -> bool:
    return act is Act.OTHER and not _FETCHING.isdisjoint(bare_name(name).split("_"))


def acts_in(name: str, arguments: str) -> Iterator[tuple[Act, str | None]]:
    """Yield what a call does to which path; None where the path was cut away."""
    given = _load(arguments)
    if given is not None:
        yield from acts_of_call(
            CallSeen(name=name, arguments=given, raw=arguments, position=0)
        )
        return
    command = _COMMAND_IN_PART.search(arguments)
    path = _PATH_IN_PART.search(arguments)
    known = {"command": command[1] if command else "", "path": path}
    act = act_of(name, known)
    yield act, path[1] if path else None


def _load(arguments: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _canonical(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False)
