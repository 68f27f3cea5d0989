"""Every row of the quality benchmark runs with tiny sizes; nothing here is judged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.quality.catalog import ROWS

PROJECT = Path(__file__).resolve().parents[3]


def test_quick_mode_runs_and_prints_every_row():
    done = subprocess.run(
        [sys.executable, "-m", "bench.quality", "--quick"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    rows = [line.split() for line in done.stdout.splitlines() if line[:1] != "#"]

    assert done.returncode == 0, done.stdout + done.stderr
    assert [row[0] for row in rows] == [row.name for row in ROWS]
    assert {row[-1] for row in rows} <= {"ran", "skipped"}
    # Without the peer only rows whose figure is a ratio to it are skipped.
    against = {row.name: row.against for row in ROWS}
    skipped = [row[0] for row in rows if row[-1] == "skipped"]
    assert all("Hermes" in against[name] or "logs" in against[name] for name in skipped)


def test_names_of_rows_are_taken_once():
    names = [row.name for row in ROWS]

    assert len(set(names)) == len(names)
