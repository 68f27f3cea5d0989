"""Import conversations from log files and databases of agents."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError

from compaction import wiring
from compaction.services.imports.files import ImportReport, import_file
from compaction.sources import SourceError, summarise_file


class Command(BaseCommand):
    """Import files, one after the other, and say what came of each."""

    help = (
        "Import conversations from files of any known format, found by content. "
        "Importing twice changes nothing; importing a file that has grown appends. "
        "The agent itself is not touched."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the files."""
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import every file; go on after one that cannot be read."""
        failed = 0
        for path in options["paths"]:
            failed += not self._import(path)
        if failed:
            raise CommandError(
                f"{failed} of {len(options['paths'])} files could not be imported; "
                "what came before is kept."
            )

    def _import(self, path: Path) -> bool:
        progress = Progress(sys.stderr, path.name, _expected(path))
        try:
            report = import_file(path, on_progress=progress.show)
        except SourceError as error:
            progress.close()
            place = f"{error.path}, line {error.line}" if error.line else error.path
            reason = error.detail or error.reason.replace("_", " ")
            self.stderr.write(f"{place}: {reason}.")
            return False
        progress.close()
        self.stdout.write(f"{path.name}: {_sentence(report)}")
        return True


def _expected(path: Path) -> int | None:
    """How many messages there are to import, None when that is not cheap to know."""
    try:
        return summarise_file(path, limits=wiring.source_limits()).messages
    except SourceError:
        return None  # the import itself says what is wrong


def _sentence(report: ImportReport) -> str:
    parts = [
        f"{count:,} {word}"
        for count, word in (
            (report.new, "new"),
            (report.grown, "grown"),
            (report.noted, "changed in the log, kept as they were"),
            (report.unchanged, "unchanged"),
            (report.branches, "branched"),
        )
        if count
    ]
    found = ", ".join(parts) or "no"
    return f"{found} conversations, {report.messages:,} messages added"


class Progress:
    """A bar on a terminal, nothing elsewhere."""

    WIDTH = 30

    def __init__(self, out: TextIO, label: str, expected: int | None) -> None:
        self._out = out
        self._label = label[:40]
        self._expected = expected
        self._shown = -1
        self._live = out.isatty()

    def show(self, report: ImportReport) -> None:
        """Draw the bar when a hundredth more is done."""
        if not self._live:
            return
        step = self._step(report.measured)
        if step == self._shown:
            return
        self._shown = step
        self._out.write(f"\r{self._label} {self._bar(report.measured)}")
        self._out.flush()

    def _step(self, done: int) -> int:
        return done * 100 // self._expected if self._expected else done // 1_000

    def _bar(self, done: int) -> str:
        if not self._expected:
            return f"{done:,} messages"
        filled = min(self.WIDTH, self.WIDTH * done // self._expected)
        bar = "#" * filled + "-" * (self.WIDTH - filled)
        return f"[{bar}] {done:,} of {self._expected:,} messages"

    def close(self) -> None:
        """Leave the line to what follows."""
        if self._live and self._shown >= 0:
            self._out.write("\r\x1b[K")
            self._out.flush()
