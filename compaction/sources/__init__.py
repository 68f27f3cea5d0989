"""Readers of foreign logs: a path in, plain values out, no database.

`read_conversations` is the door. Which reader a file belongs to is told by its content.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compaction.sources import hermes_state
from compaction.sources.detection import find_reader
from compaction.sources.homes import find_hermes_homes
from compaction.sources.sample import take_sample
from compaction.sources.values import (
    FileFacts,
    SourceConversation,
    SourceError,
    SourceLimits,
)

__all__ = [
    "FileFacts",
    "SourceConversation",
    "SourceError",
    "SourceLimits",
    "detect",
    "find_hermes_homes",
    "read_conversations",
    "summarise_file",
]

_DEFAULTS = SourceLimits()
_CHEAP_BYTES = 32 << 20


def read_conversations(
    path: Path, *, limits: SourceLimits = _DEFAULTS
) -> Iterator[SourceConversation]:
    """Read a file of any known format, one whole conversation at a time.

    Raises SourceError (and nothing else) while iterating; every conversation that was
    given before is whole, but a caller who wants all or nothing waits for the end.
    Reading the same file again gives the same ids, a grown file the same messages in
    the same order and new ones behind them.
    """
    with _only_source_errors(path):
        sample = take_sample(path, limits)
        found = 0
        for conversation in find_reader(sample).read(sample):
            found += 1
            yield conversation
        if not found:
            raise SourceError(str(path), "no_messages", "no conversation in it")


def detect(path: Path, *, limits: SourceLimits = _DEFAULTS) -> str:
    """Return the name of a file's format; SourceError when it has none."""
    with _only_source_errors(path):
        return find_reader(take_sample(path, limits)).FORMAT


def summarise_file(path: Path, *, limits: SourceLimits = _DEFAULTS) -> FileFacts:
    """Tell what a file holds before it is imported; large logs are not counted."""
    with _only_source_errors(path):
        sample = take_sample(path, limits)
        reader = find_reader(sample)
        if reader is hermes_state:
            return hermes_state.summarise(sample)
        if sample.size > _CHEAP_BYTES:
            return FileFacts(format=reader.FORMAT, size=sample.size)
        counts = [
            sum(len(session.messages) for session in conversation.sessions)
            for conversation in reader.read(sample)
        ]
    return FileFacts(
        format=reader.FORMAT,
        size=sample.size,
        conversations=len(counts),
        messages=sum(counts),
    )


@contextmanager
def _only_source_errors(path: Path) -> Iterator[None]:
    """Give the errors of the machine the shape of an error of the file."""
    try:
        yield
    except FileNotFoundError:
        raise SourceError(str(path), "not_found", "the file is gone") from None
    except OSError as exc:
        raise SourceError(str(path), "not_readable", str(exc)) from None
    except (MemoryError, RecursionError) as exc:
        detail = f"needs more memory than there is ({type(exc).__name__})"
        raise SourceError(str(path), "too_large", detail) from None
