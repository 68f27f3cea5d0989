"""The row of the import: a real Hermes database in, against copying it plainly."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import tiktoken

from bench.measuring import cpu_seconds, side_by_side
from bench.rows import Measured, Row
from bench.state_db import copy_plainly, write_state_db
from bench.workshop import Workshop
from compaction.adapters.encoding_files import unpack

Count = Callable[[str], int]
_PROJECT = Path(__file__).resolve().parent.parent


def import_hermes(workshop: Workshop) -> Measured:
    """Import a state.db: read, compared, measured, indexed for search, written."""
    messages = workshop.sizes.import_messages
    source = write_state_db(workshop.folder / "state.db", messages)
    count = _plain_counter(workshop.folder / "tiktoken")
    return side_by_side(
        lambda: _import(source, workshop.folder),
        lambda: _copy(source, workshop.folder, count),
        runs=min(3, workshop.sizes.runs),
        warm_ups=0,
    )


def _import(source: Path, folder: Path) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as target:
        command = [sys.executable, "-m", "bench.import_worker", str(source), target]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=_PROJECT
        )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return float(done.stdout)


def _copy(source: Path, folder: Path, count: Count) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as target:
        copy = Path(target) / "copy.db"
        return cpu_seconds(lambda: copy_plainly(source, copy, count))


def _plain_counter(cache: Path) -> Count:
    """Count with tiktoken alone; what was counted before is counted again."""
    os.environ["TIKTOKEN_CACHE_DIR"] = str(unpack("o200k_base", cache).parent)
    encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text))


ROWS = (
    Row(
        name="import",
        target="5",
        measure=import_hermes,
        against="copying the same rows with sqlite3 and counting their tokens",
    ),
)
