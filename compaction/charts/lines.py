"""Lines over time: the saw-tooth of a lineage's tokens, and small trends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

WIDTH = 1000.0
HEIGHT = 100.0
"""Drawing area; y grows downwards."""


class Reading(Protocol):
    """Tokens at one moment."""

    @property
    def tokens(self) -> int:
        """How many."""

    @property
    def compacted(self) -> bool:
        """True when a compaction led here from the reading before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A place in the drawing area."""

    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SawTooth:
    """Growth as lines, compactions as drops, levels as heights."""

    rises: tuple[tuple[Point, ...], ...]
    drops: tuple[tuple[Point, Point], ...]
    threshold_y: float | None
    limit_y: float | None
    top: int


def lay_out_saw_tooth(
    readings: Iterable[Reading], *, limit: int | None = None, threshold: int | None
) -> SawTooth:
    """Lay out readings at equal distances; the scale reaches over every level."""
    series = list(readings)
    top = max([reading.tokens for reading in series] + [limit or 0, threshold or 0, 1])
    points = _points([reading.tokens for reading in series], top)
    starts = [i for i, reading in enumerate(series) if i and reading.compacted]
    bounds = [0, *starts, len(points)]
    return SawTooth(
        rises=tuple(tuple(points[a:b]) for a, b in pairwise(bounds) if b > a),
        drops=tuple((points[i - 1], points[i]) for i in starts),
        threshold_y=_height(threshold, top),
        limit_y=_height(limit, top),
        top=top,
    )


def lay_out_trend(values: Sequence[float]) -> tuple[Point, ...]:
    """Points of a sparkline, from the lowest value (bottom) to the highest (top)."""
    if not values:
        return ()
    low, high = min(values), max(values)
    if high == low:
        return tuple(_points([0.5] * len(values), 1))
    return tuple(_points([(v - low) / (high - low) for v in values], 1))


def _points(values: Sequence[float], top: float) -> list[Point]:
    step = WIDTH / max(len(values) - 1, 1)
    return [
        Point(x=index * step, y=HEIGHT * (1 - value / top))
        for index, value in enumerate(values)
    ]


def _height(level: int | None, top: int) -> float | None:
    return HEIGHT * (1 - level / top) if level else None
