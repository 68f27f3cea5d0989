"""The pieces of SVG that would be too many for a template loop.

A thousand bars written by a template would cost more than the rest of the page. What
is written is a number, a class from a fixed set, or escaped text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import groupby

from compaction.charts.lines import Point
from compaction.charts.ruler import Bar, Ruler, Stretch

BARS_HEIGHT = 104
"""Height of the ruler's bars in pixels."""

_LEAST_HEIGHT = 8.0
_MOST_HEIGHT = 94.0
_LEAST_WIDTH = 0.7
_GAP = 0.3


def coord(value: float) -> str:
    """Return a coordinate: two decimals at most, a point in every language."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def draw_bars(ruler: Ruler, *, name_bar: Callable[[Bar], str] | None = None) -> str:
    """Return the bars; those of one look stand in one <g>, so that each is short.

    `name_bar` gives the text of a bar's title; without it bars have none.
    """
    ordered = sorted(ruler.bars, key=_look)
    return "".join(
        f'<g class="bar {look}">{"".join(_bar(bar, name_bar) for bar in bars)}</g>'
        for look, bars in groupby(ordered, key=_look)
    )


def _look(bar: Bar) -> str:
    return f"{bar.look} pruned" if bar.pruned else bar.look


def _bar(bar: Bar, name_bar: Callable[[Bar], str] | None) -> str:
    height = _height(bar)
    width = max(bar.width - _GAP, _LEAST_WIDTH)
    place = f"{bar.first}" if bar.first == bar.last else f"{bar.first}-{bar.last}"
    shape = (
        f'<rect x="{coord(bar.x)}" y="{coord(BARS_HEIGHT - height)}"'
        f' width="{coord(width)}" height="{coord(height)}"'
        f' data-at="{place}" data-tokens="{bar.tokens}"'
    )
    if name_bar is None:
        return f"{shape}/>"
    return f"{shape}><title>{escape(name_bar(bar))}</title></rect>"


def _height(bar: Bar) -> float:
    return _LEAST_HEIGHT + (_MOST_HEIGHT - _LEAST_HEIGHT) * bar.height


def draw_dots(ruler: Ruler) -> str:
    """Return a path with a dot above each user message: not told by colour alone."""
    if ruler.is_gathered:
        return ""
    return "".join(
        f"M{coord(bar.x + bar.width / 2)} 4h0"
        for bar in ruler.bars
        if bar.look == "user"
    )


def draw_brackets(groups: Sequence[Stretch]) -> str:
    """Return a path with one bracket for each tool group."""
    return "".join(
        f"M{coord(group.x + _GAP)} 1v4h{coord(max(group.width - 2 * _GAP, 0))}v-4"
        for group in groups
    )


def choose_places(ruler: Ruler) -> list[tuple[float, int, str]]:
    """Return positions to write under the ruler: x in per cent, position, anchor.

    The ends always; a cut only where its number does not touch another.
    """
    if not ruler.bars:
        return []
    first, last = ruler.bars[0].first, ruler.bars[-1].last
    chosen = [(0.0, first, "start")]
    for cut in ruler.cuts:
        x = cut.x / 10
        if x - chosen[-1][0] >= 6 and x <= 92:
            chosen.append((x, cut.position, "middle"))
    return [*chosen, (100.0, last, "end")] if last != first else chosen


def path(points: Sequence[Point]) -> str:
    """Return an open path through the points."""
    places = [f"{coord(point.x)} {coord(point.y)}" for point in points]
    return f"M{'L'.join(places)}" if places else ""


def closed_path(points: Sequence[Point]) -> str:
    """Return the path, closed along the bottom of the drawing area."""
    return f"{path(points)}V100H{coord(points[0].x)}Z" if points else ""
