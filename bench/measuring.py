"""How a figure is taken: CPU time of this process, both sides in turn, medians."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median

from bench.rows import Measured

Take = Callable[[], float]
"""Takes one figure; what it needs to set up first it does not count."""


def cpu_seconds(work: Callable[[], object]) -> float:
    """Run once and return the CPU seconds of this process that it took."""
    gc.collect()
    started = time.process_time()
    work()
    return time.process_time() - started


def wall_seconds(work: Callable[[], object]) -> float:
    """Run once and return the seconds on the clock that it took."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def side_by_side(
    ours: Take, other: Take, *, runs: int, warm_ups: int = 1, unit: str = "s"
) -> Measured:
    """Take both figures in turn, A B B A …, and return their medians."""
    for _ in range(warm_ups):
        ours()
        other()
    left: list[float] = []
    right: list[float] = []
    for run in range(runs):
        _take_both(ours, other, left, right) if run % 2 == 0 else _take_both(
            other, ours, right, left
        )
    return Measured(
        ours=median(left),
        other=median(right),
        unit=unit,
        note=f"{runs} runs, ours {_spread(left)}, other {_spread(right)}",
    )


def _take_both(
    first: Take, second: Take, firsts: list[float], seconds: list[float]
) -> None:
    firsts.append(first())
    seconds.append(second())


def _spread(figures: list[float]) -> str:
    """Half the distance between the extremes, as a share of the median."""
    middle = median(figures)
    half = (max(figures) - min(figures)) / 2
    return f"±{half / middle:.0%}" if middle else "±0%"
