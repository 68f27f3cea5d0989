"""Every row runs and is printed, with tiny sizes; nothing here judges a speed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.catalog import ROWS

PROJECT = Path(__file__).resolve().parent.parent.parent


def test_quick_mode_runs_and_prints_every_row():
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick"],
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
    # Without the peer only the rows that name it are skipped.
    against = {row.name: row.against for row in ROWS}
    assert all("Hermes" in against[r[0]] for r in rows if r[-1] == "skipped")


def test_names_of_rows_are_taken_once():
    names = [row.name for row in ROWS]

    assert len(set(names)) == len(names)
    assert all(0 < row.limit < 100 for row in ROWS)
