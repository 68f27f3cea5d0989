"""What a shell command does to files, as far as its words tell. No shell is run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compaction.engine.evidence.tool_names import Act
from compaction.engine.evidence.wording import one_line, words

COMMAND_CHARS = 160
_MOST_PARTS = 24

_PARTS = re.compile(r"&&|\|\||[;|\n]")
_HEREDOC = re.compile(r"<<-?\s{0,3}[\"']?([A-Za-z_]{1,20})")
_WORDS = re.compile(r"\"([^\"]{0,400})\"|'([^']{0,400})'|([^\s\"'<>]+)|(>>?)")
_PATH = re.compile(
    r"[\w@~+.$-]*/[\w@~+./$()\[\]{}-]*|[\w@+-][\w@+.-]*\.[A-Za-z][A-Za-z0-9]{0,9}"
    r"|Makefile|Dockerfile|README|LICENSE|\.[a-z][\w.-]+"
)
_REDIRECTED = re.compile(r"(?<![0-9&>])>>?\s{0,3}([\w@~+./$-]{2,200})")

_BY_COMMAND = {
    "rm": Act.DELETE,
    "unlink": Act.DELETE,
    "rmdir": Act.DELETE,
    "mv": Act.MOVE,
    "cp": Act.CREATE,
    "touch": Act.CREATE,
    "mkdir": Act.CREATE,
    "tee": Act.WRITE,
    "cat": Act.READ,
    "head": Act.READ,
    "tail": Act.READ,
    "less": Act.READ,
    "nl": Act.READ,
    "bat": Act.READ,
    "sed": Act.READ,
}
TRIVIAL = words(
    "cd ls pwd echo cat head tail grep rg find sed which wc sort true nl tree env date "
    "less printf sleep export set type whoami awk cut uniq clear"
)
"""Commands that only look around."""


def bare_command(command: str) -> str:
    """Return a command on one line, without the text of a here-document."""
    heredoc = _HEREDOC.search(command)
    if heredoc:
        line_end = command.find("\n", heredoc.end())
        command = command[: line_end if line_end >= 0 else len(command)]
    return one_line(command, COMMAND_CHARS)


def is_trivial(command: str) -> bool:
    """True when every part of a command only looks around."""
    return all(first_word(part) in TRIVIAL for part in _parts(command))


def _parts(command: str) -> list[str]:
    heredoc = _HEREDOC.search(command)
    visible = command[: heredoc.end()] if heredoc else command[:2_000]
    return [part for part in _PARTS.split(visible)[:_MOST_PARTS] if part.strip()]


def first_word(part: str) -> str:
    """Return the program of a part of a command line."""
    for word in part.split()[:6]:
        if word in ("sudo", "time", "env", "then", "do", "(") or "=" in word:
            continue
        return word.rpartition("/")[2]
    return ""


def file_acts(command: str) -> Iterator[tuple[Act, str]]:
    """Yield what a command does to which path; `a -> b` for a move."""
    for part in _parts(command):
        for path in _REDIRECTED.findall(part)[:4]:
            if is_path(path):
                yield Act.WRITE, path
        yield from _acts_of_part(part)


def _acts_of_part(part: str) -> Iterator[tuple[Act, str]]:
    given = [a or b or c for a, b, c, _ in _WORDS.findall(part)[:40]]
    program = first_word(part)
    if program == "git" and len(given) > 2 and given[1] in ("rm", "mv"):
        program, given = given[1], given[1:]
    act = _BY_COMMAND.get(program)
    if act is not None:
        options = [word for word in given[1:] if word.startswith("-")]
        paths = [word for word in given[1:] if word[:1] != "-" and is_path(word)]
        in_place = program == "sed" and any(o.startswith("-i") for o in options)
        yield from _by_program(Act.EDIT if in_place else act, program, paths)


def _by_program(act: Act, program: str, paths: list[str]) -> Iterator[tuple[Act, str]]:
    if act is Act.MOVE:
        if len(paths) >= 2:
            yield act, f"{paths[0]} -> {paths[-1]}"
        return
    only_last = program in ("cp", "sed")
    for path in paths[-1:] if only_last else paths[:8]:
        yield act, path


def is_path(word: str) -> bool:
    """True for what looks like the path of a file."""
    if len(word) > 200 or word.startswith(("/dev/", "http", "$(", "s/")):
        return False
    return _PATH.fullmatch(word) is not None and any(c.isalpha() for c in word)
