"""Results as lines: `name ours other ratio target pass|fail|skipped`."""

from __future__ import annotations

from collections.abc import Iterable

from bench.rows import Measured, Result, Row, Status

NAME_CHARS = 26
_SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def line_of(result: Result) -> str:
    """Write one row; the six columns hold no spaces."""
    cells = _cells(result.measured)
    return _join(result.row.name, *cells, target_of(result.row), result.status)


def target_of(row: Row) -> str:
    """Write the target with the side from which it is reached."""
    return f"{row.rule.sign}{row.target}"


def _join(name: str, *cells: str) -> str:
    ours, other, ratio, target, status = cells
    return (
        f"{name:<{NAME_CHARS}} {ours:>10} {other:>10} {ratio:>9} {target:>9} {status}"
    )


def header() -> str:
    """Write the names of the columns, as a comment."""
    return _join("# name", "ours", "other", "ratio", "target", "status")


def _cells(measured: Measured | None) -> tuple[str, str, str]:
    if measured is None:
        return "-", "-", "-"
    if measured.other is None:
        return write_figure(measured.ours, measured.unit), "-", "-"
    return (
        write_figure(measured.ours, measured.unit),
        write_figure(measured.other, measured.unit),
        write_ratio(measured.ratio),
    )


def write_figure(figure: float, unit: str) -> str:
    """Write a figure with its unit and three digits that count."""
    if unit != "s":
        return f"{figure:,.4g}{unit}"
    scale, name = next((s for s in _SCALES if figure >= s[0]), _SCALES[-1])
    return f"{figure / scale:.3g}{name}"


def write_ratio(ratio: float) -> str:
    """Write a ratio; a small one as a fraction, to be read beside its target."""
    if 0 < ratio < 0.1:
        return f"1/{1 / ratio:,.0f}"
    return f"{ratio:.3g}"


def note_of(result: Result) -> str:
    """Write how the figures came about, or why there are none."""
    against = f"against {result.row.against}"
    return f"# {result.row.name}: {'; '.join(filter(None, (against, result.note)))}"


def exit_status(results: Iterable[Result]) -> int:
    """Return 1 when a row failed; a skipped one is no failure."""
    return int(any(result.status is Status.FAIL for result in results))


def verdict(results: Iterable[Result]) -> str:
    """Say in one line how many rows passed, failed and were skipped."""
    found = [result.status for result in results]
    counts = ((status, found.count(status)) for status in Status)
    return "# " + ", ".join(f"{count} {status}" for status, count in counts if count)


def list_row(row: Row) -> str:
    """Write a row without measuring it."""
    return f"{row.name:<{NAME_CHARS}} {target_of(row):>9}  against {row.against}"
