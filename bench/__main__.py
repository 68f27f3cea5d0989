"""`python -m bench [ROW …] [--quick] [--list]`: measure and print one line a row."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from bench.catalog import ROWS
from bench.report import exit_status, header, line_of, list_row, note_of, verdict
from bench.rows import Result, Row, measure_row
from bench.workshop import Workshop


def main(arguments: Sequence[str], rows: Sequence[Row] = ROWS) -> int:
    """Measure the chosen rows; return 1 when one failed, 2 for an unknown name."""
    chosen = _parser().parse_args(arguments)
    unknown = [name for name in chosen.rows if not choose(rows, [name])]
    if unknown:
        print(f"No row is named {' or '.join(unknown)}; --list shows all names.")
        return 2
    rows = choose(rows, chosen.rows)
    if chosen.list:
        print(*map(list_row, rows), sep="\n")
        return 0
    results = _measure(rows, is_quick=chosen.quick)
    print(verdict(results))
    return exit_status(results)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("rows", nargs="*", help="rows to measure; default: all")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes, only to see that rows run"
    )
    parser.add_argument("--list", action="store_true", help="name the rows and end")
    return parser


def choose(rows: Sequence[Row], names: Sequence[str]) -> tuple[Row, ...]:
    """Pick rows by name; `plan_cold` picks plan_cold/L and plan_cold/W. None: all."""
    wanted = set(names)
    return tuple(
        row
        for row in rows
        if not wanted or row.name in wanted or row.name.split("/")[0] in wanted
    )


def _measure(rows: Sequence[Row], *, is_quick: bool) -> list[Result]:
    print(f"# load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(header(), flush=True)
    results: list[Result] = []
    with Workshop(is_quick=is_quick) as workshop:
        for row in rows:
            results.append(measure_row(row, workshop))
            print(line_of(results[-1]), flush=True)
    print(*map(note_of, results), sep="\n")
    return results


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
