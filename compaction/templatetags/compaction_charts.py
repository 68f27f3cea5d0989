"""Template tags that draw the charts as SVG, on the server, without inline style.

Geometry comes from `compaction.charts`; the templates are in
`templates/components/charts/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.safestring import mark_safe
from django.utils.translation import gettext, ngettext

from compaction.charts import svg
from compaction.charts.lineage import Row, lay_out_lineage
from compaction.charts.lines import (
    lay_out_saw_tooth as lay_out_saw_tooth_of,
    lay_out_trend,
)
from compaction.charts.ruler import (
    MAX_BARS,
    Band,
    Bar,
    Ruler,
    Stretch,
    lay_out_ruler as lay_out_ruler_of,
)
from compaction.charts.window import WindowBar, lay_out_window as lay_out_window_of
from compaction.templatetags.compaction_format import clip, tokens

register = template.Library()

TITLED_BARS = 300
"""With more bars than this a bar has no title of its own: the page must stay small."""

LANE_WIDTH = 18
"""Pixels between two lanes of the lineage."""

register.filter("coord", svg.coord)


@register.filter
def per_cent(x: float) -> str:
    """A place on the ruler (0 to 1,000) in per cent of its width."""
    return svg.coord(x / 10)


@register.filter
def centre(band: Band) -> str:
    """The middle of a band in per cent of the ruler."""
    return per_cent(band.x + band.width / 2)


@register.filter
def right(stretch: Stretch) -> str:
    """The right end of a stretch in per cent of the ruler."""
    return per_cent(stretch.x + stretch.width)


@register.filter
def level(y: float) -> str:
    """A height of the saw-tooth in pixels of its picture."""
    return svg.coord(14 + y * 1.1)


@register.filter
def level_word(y: float) -> str:
    """The base line of the word over a level."""
    return svg.coord(14 + y * 1.1 - 4)


@register.simple_tag
def lay_out_window(
    parts: Iterable[Any], limit: int, threshold: int | None = None
) -> WindowBar:
    """Lay out parts (`kind`, `tokens`) over a window of `limit` tokens."""
    return lay_out_window_of(parts, limit=limit, threshold=threshold)


@register.inclusion_tag("components/charts/_window_bar.html")
def window_bar(
    parts: Iterable[Any],
    limit: int,
    threshold: int | None = None,
    name: str = "window",
) -> dict[str, object]:
    """Draw the bar with letters and marks; `name` makes its ids unique on a page."""
    return {"bar": lay_out_window(parts, limit, threshold), "name": name}


@register.inclusion_tag("components/charts/_window_mini.html")
def window_mini(
    parts: Iterable[Any], limit: int, threshold: int | None = None
) -> dict[str, object]:
    """Draw the small bar of a table row; the row says its numbers in words."""
    return {"bar": lay_out_window(parts, limit, threshold)}


@register.simple_tag
def lay_out_ruler(items: Iterable[Any], max_bars: int = MAX_BARS) -> Ruler:
    """Lay out messages (see `charts.ruler.Measured`) to scale by tokens."""
    return lay_out_ruler_of(items, max_bars=max_bars)


@register.inclusion_tag("components/charts/_ruler.html")
def ruler(
    items: Iterable[Any] | Ruler,
    shown_from: int | None = None,
    shown_to: int | None = None,
    name: str = "ruler",
) -> dict[str, object]:
    """Draw the ruler; `shown_from`/`shown_to` are positions in the list beside it."""
    drawing = items if isinstance(items, Ruler) else lay_out_ruler_of(items)
    name_bar = _name_bar if len(drawing.bars) <= TITLED_BARS else None
    shown: Stretch | None = None
    if shown_from is not None and shown_to is not None:
        shown = drawing.span_of(shown_from, shown_to)
    return {
        "drawing": drawing,
        "bars": mark_safe(svg.draw_bars(drawing, name_bar=name_bar)),
        "dots": svg.draw_dots(drawing),
        "brackets": svg.draw_brackets(drawing.groups),
        "places": svg.choose_places(drawing),
        "shown": shown,
        "name": name,
        "height": svg.BARS_HEIGHT,
    }


def _name_bar(bar: Bar) -> str:
    words = [
        clip(bar.role, 40),
        gettext("%(count)s tokens") % {"count": tokens(bar.tokens)},
    ]
    if bar.pruned:
        words.append(gettext("pruned"))
    place = str(bar.first) if bar.first == bar.last else f"{bar.first}–{bar.last}"
    return " · ".join([place, *words])


@register.inclusion_tag("components/charts/_saw_tooth.html")
def saw_tooth(
    readings: Iterable[Any],
    limit: int | None = None,
    threshold: int | None = None,
    name: str = "saw-tooth",
) -> dict[str, object]:
    """Draw tokens over time (readings with `tokens`, `compacted`) against levels."""
    series = list(readings)
    drawing = lay_out_saw_tooth_of(series, limit=limit, threshold=threshold)
    return {
        "drawing": drawing,
        "line": "".join(svg.path(rise) for rise in drawing.rises),
        "area": "".join(svg.closed_path(rise) for rise in drawing.rises),
        "drops": "".join(svg.path(drop) for drop in drawing.drops),
        "compactions": len(drawing.drops),
        "first": series[0] if series else None,
        "last": series[-1] if series else None,
        "limit": limit,
        "threshold": threshold,
        "name": name,
    }


@register.inclusion_tag("components/charts/_sparkline.html")
def sparkline(values: Iterable[float], label: str = "") -> dict[str, object]:
    """Draw a small trend; `label` says in words what it shows."""
    series = list(values)
    points = lay_out_trend(series)
    return {"line": svg.path(points), "label": label, "is_empty": len(points) < 2}


@register.inclusion_tag("components/charts/_lineage_tree.html")
def lineage_tree(
    sessions: Iterable[Any], current_id: object = None
) -> dict[str, object]:
    """Draw the tree: lanes beside one row for each session, parents first.

    Sessions have what `charts.lineage.Generation` asks, and for the row: `title`,
    `url`, `generation`, `message_count`, `tokens`, `started_at`, `end_reason`,
    `is_tip`; and, of the compaction that made it, `tokens_before` (or None).
    """
    nodes = list(sessions)
    rows = lay_out_lineage(nodes)
    lanes = max((row.lane for row in rows), default=0) + 1
    most = max((_largest(node) for node in nodes), default=0)
    return {
        "rows": [
            _describe_row(node, row, most, current_id)
            for node, row in zip(nodes, rows, strict=True)
        ],
        "rail_width": lanes * LANE_WIDTH,
    }


def _largest(node: Any) -> int:
    return max(int(node.tokens or 0), int(node.tokens_before or 0))


def _describe_row(
    node: Any, row: Row, most: int, current_id: object
) -> dict[str, object]:
    return {
        "session": node,
        "x": _lane_x(row.lane),
        "branch_x": None if row.branch_from is None else _lane_x(row.branch_from),
        "lines": [
            {
                "x": _lane_x(line.lane),
                "y1": _ROW_PLACES[line.start],
                "y2": _ROW_PLACES[line.end],
                "dashed": line.dashed,
            }
            for line in row.lines
        ],
        "is_current": node.id == current_id,
        "before": 100 * int(node.tokens_before or 0) / most if most else 0,
        "after": 100 * int(node.tokens or 0) / most if most else 0,
    }


_ROW_PLACES = {"top": "0", "node": "20", "bottom": "100%"}


def _lane_x(lane: int) -> int:
    return lane * LANE_WIDTH + LANE_WIDTH // 2


@register.simple_tag
def count_messages(count: int) -> str:
    """A number of messages in words: "1 message", "153 messages"."""
    word = ngettext("%(count)s message", "%(count)s messages", count)
    return word % {"count": tokens(count)}
