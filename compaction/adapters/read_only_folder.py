"""Files of one folder, to be read and nothing else, by paths that nobody trusts.

A path is walked from the folder's own descriptor, one name after the other, and no
step follows a symbolic link (O_NOFOLLOW): between a check and the opening nothing can
be swapped, because there is no check before the opening. `..` and absolute paths are
no names. Only regular files are read, so no pipe or device can hang or answer.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 2_000_000
"""Larger files are refused."""
MAX_ENTRIES = 500
_DEPTH = 40
_SEARCHED_FILES = 5_000
_SEARCHED_BYTES = 50_000_000
_HITS = 100
_LINE_CHARS = 300

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FolderRefused(Exception):
    """A path that is not read; the text says why, and nothing of what lies outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name in a folder; `size` in bytes, None for a folder."""

    name: str
    size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A line that contains what was searched for; lines are counted from 1."""

    path: str
    line: int
    text: str


class ReadOnlyFolder:
    """Reads below `root`, which an administrator chose; raises FolderRefused."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def entries(self, path: str = "") -> list[Entry]:
        """Return the names in a folder, in order, at most MAX_ENTRIES.

        Links and special files are left out: they cannot be read.
        """
        with self._folder(_names(path)) as folder:
            return _entries(folder)[:MAX_ENTRIES]

    def read(self, path: str) -> str:
        """Return a text file; refuses what is large, binary or no regular file."""
        *folders, name = _names(path) or [""]
        if not name:
            raise FolderRefused("That is a folder.")
        with self._folder(folders) as folder:
            return _decode(_read_at(folder, name))

    def search(self, text: str, path: str = "") -> list[Hit]:
        """Return lines that contain a text, at most 100; case does not count.

        Files that cannot be read are passed over.
        """
        wanted = text.casefold()
        if not wanted:
            raise FolderRefused("There is nothing to search for.")
        hits: list[Hit] = []
        with self._folder(_names(path)) as folder:
            start = "/".join(_names(path))
            for name, content in _files(folder, start, _Budget()):
                hits += _hits_in(name, content, wanted, _HITS - len(hits))
                if len(hits) >= _HITS:
                    break
        return hits

    @contextmanager
    def _folder(self, names: list[str]) -> Iterator[int]:
        """Open a folder below the root, name by name."""
        try:
            opened = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            raise FolderRefused("The folder of the project cannot be opened.") from None
        try:
            for name in names:
                below = _open(name, _DIRECTORY, opened)
                os.close(opened)
                opened = below
            yield opened
        finally:
            os.close(opened)


def _names(path: str) -> list[str]:
    """Split a path; raises FolderRefused for one that leads elsewhere."""
    if path.startswith(("/", "~")) or "\\" in path or "\x00" in path:
        raise FolderRefused("Only paths relative to the project are read.")
    names = [name for name in path.split("/") if name not in ("", ".")]
    if ".." in names:
        raise FolderRefused("A path may not lead out of the project.")
    if len(names) > _DEPTH or len(path) > 4_096:
        raise FolderRefused("The path is too long.")
    return names


def _open(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise FolderRefused("There is no such file or folder.") from None
    except (OSError, ValueError):
        raise FolderRefused("That is no plain file or folder, or a link.") from None


def _entries(folder: int) -> list[Entry]:
    found: list[Entry] = []
    with os.scandir(folder) as names:
        for name in names:
            if name.is_dir(follow_symlinks=False):
                found.append(Entry(name=name.name, size=None))
            elif name.is_file(follow_symlinks=False):
                size = name.stat(follow_symlinks=False).st_size
                found.append(Entry(name=name.name, size=size))
    return sorted(found, key=lambda entry: entry.name)


def _read_at(folder: int, name: str) -> bytes:
    opened = _open(name, _FILE, folder)
    try:
        mode = os.fstat(opened).st_mode
        if stat.S_ISDIR(mode):
            raise FolderRefused("That is a folder.")
        if not stat.S_ISREG(mode):
            raise FolderRefused("That is no plain file.")
        content = _read_up_to(opened, MAX_BYTES + 1)  # it may grow meanwhile
    finally:
        os.close(opened)
    if len(content) > MAX_BYTES:
        raise FolderRefused(f"The file is larger than {MAX_BYTES:,} bytes.")
    return content


def _read_up_to(opened: int, most: int) -> bytes:
    pieces: list[bytes] = []
    while most > 0 and (piece := os.read(opened, min(most, 1 << 20))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def _decode(content: bytes) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\x00"
    if "\x00" in text:
        raise FolderRefused("The file is binary, not text.")
    return text


@dataclass(slots=True, kw_only=True)
class _Budget:
    """What a search may still read."""

    files: int = _SEARCHED_FILES
    bytes: int = _SEARCHED_BYTES


def _files(folder: int, path: str, budget: _Budget) -> Iterator[tuple[str, str]]:
    """Give the readable files below a folder with their paths, depth first."""
    if path.count("/") >= _DEPTH:
        return
    for entry in _entries(folder):
        if budget.files <= 0 or budget.bytes <= 0:
            return
        name = f"{path}/{entry.name}" if path else entry.name
        if entry.size is None:
            yield from _files_below(folder, entry.name, name, budget)
            continue
        budget.files -= 1
        try:
            content = _read_at(folder, entry.name)
            budget.bytes -= len(content)
            yield name, _decode(content)
        except (FolderRefused, OSError):
            continue


def _files_below(
    folder: int, name: str, path: str, budget: _Budget
) -> Iterator[tuple[str, str]]:
    try:
        below = _open(name, _DIRECTORY, folder)
    except FolderRefused:
        return
    try:
        yield from _files(below, path, budget)
    finally:
        os.close(below)


def _hits_in(path: str, content: str, wanted: str, most: int) -> list[Hit]:
    hits: list[Hit] = []
    for number, line in enumerate(content.splitlines(), 1):
        if wanted in line.casefold():
            hits.append(Hit(path=path, line=number, text=line.strip()[:_LINE_CHARS]))
            if len(hits) >= most:
                break
    return hits
