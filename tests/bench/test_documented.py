"""The document about the benchmark names what is there."""

from __future__ import annotations

from pathlib import Path

from bench.catalog import ROWS
from bench.quality.catalog import ROWS as QUALITY_ROWS
from bench.redaction_rows import HOSTILE
from bench.workshop import FULL

QUALITY = "| row of quality | ours | other | target |"
TEXT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"


def table() -> dict[str, str]:
    lines = TEXT.read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| `")]
    return {cells[0].strip("`"): cells[-1] for cells in rows}


def test_every_row_is_explained_with_its_target():
    targets = {row.name.split("/")[0]: row.target for row in ROWS}

    assert table() == targets


def test_every_row_of_quality_is_explained():
    lines = TEXT.read_text(encoding="utf-8").splitlines()
    first, *explained = lines[lines.index(QUALITY) + 1 :]
    table = [line for line in explained if line.startswith("| ")]
    names = [line.strip("| ").split(" | ")[0] for line in table]

    assert first.startswith("|---")
    assert set(names) == {row.name.split("/")[0] for row in QUALITY_ROWS}


def test_sizes_that_are_told_are_those_that_are_measured():
    text = TEXT.read_text(encoding="utf-8")

    for letter, shape in FULL.shapes.items():
        assert f"| {letter} | {shape.messages:,} | {shape.chars:,} |" in text
    assert f"{len(HOSTILE)} hostile texts of {FULL.hostile_chars:,} characters" in text
