"""Which reader a file belongs to: told by what is in it, never by its name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from compaction.sources import (
    claude_code,
    codex,
    hermes_export,
    hermes_state,
    hermes_trajectory,
    mini_swe_agent,
    openai_messages,
    openhands,
    pi,
    swe_agent,
    tau_bench,
)
from compaction.sources.sample import Sample
from compaction.sources.values import SourceConversation, SourceError


class Reader(Protocol):
    """What every reader module offers."""

    @property
    def FORMAT(self) -> str:  # noqa: N802 - a constant of the module
        """The name of the format."""

    def matches(self, sample: Sample) -> bool:
        """Say whether the file is of this format."""

    def read(self, sample: Sample) -> Iterator[SourceConversation]:
        """Read one conversation after the other."""


READERS: tuple[Reader, ...] = (
    hermes_state,
    hermes_export,
    hermes_trajectory,
    claude_code,
    codex,
    pi,
    swe_agent,
    mini_swe_agent,
    tau_bench,
    openhands,
    openai_messages,  # last: others hold chat messages too
)


def find_reader(sample: Sample) -> Reader:
    """Return the first reader that knows the content; SourceError when none does."""
    for reader in READERS:
        if reader.matches(sample):
            return reader
    what = "a SQLite database without Hermes' tables" if sample.is_sqlite else "JSON"
    detail = f"{what} of no known agent log"
    raise SourceError(str(sample.path), "unknown_format", detail)
