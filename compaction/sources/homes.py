"""Where a Hermes Agent lives on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from compaction.sources.sample import SQLITE_MAGIC

DATABASE = "state.db"


def find_hermes_homes(environ: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Return the Hermes homes that hold a database; nothing is opened for writing.

    Looked at: `HERMES_HOME`, `~/.hermes` (on Windows `%LOCALAPPDATA%\\hermes`), and
    the profiles below each.
    """
    found: dict[Path, None] = {}
    for candidate in _candidates(environ, home):
        if _holds_database(candidate):
            found.setdefault(_resolved(candidate), None)
    return tuple(found)


def _candidates(environ: Mapping[str, str], home: Path) -> Iterator[Path]:
    roots = [Path(environ[k].strip()) for k in ("HERMES_HOME",) if environ.get(k)]
    roots.append(home / ".hermes")
    if environ.get("LOCALAPPDATA"):
        roots.append(Path(environ["LOCALAPPDATA"]) / "hermes")
    for root in roots:
        yield root
        yield from _profiles(root)


def _profiles(root: Path) -> Iterator[Path]:
    try:
        yield from sorted((root / "profiles").iterdir())
    except (OSError, ValueError):
        return


def _holds_database(folder: Path) -> bool:
    path = folder / DATABASE
    try:
        with path.open("rb") as stream:
            return path.is_file() and stream.read(16) == SQLITE_MAGIC
    except (OSError, ValueError):
        return False


def _resolved(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError):
        return folder
