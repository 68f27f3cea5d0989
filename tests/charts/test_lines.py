"""Lines keep to their scale."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from compaction.charts.lines import HEIGHT, WIDTH, lay_out_saw_tooth, lay_out_trend


@dataclass(frozen=True)
class Reading:
    tokens: int
    compacted: bool = False


readings = st.lists(st.builds(Reading, st.integers(0, 10**7), st.booleans()))


@given(readings, st.none() | st.integers(1, 10**7))
def test_every_point_lies_inside_the_drawing(series, limit):
    drawing = lay_out_saw_tooth(series, limit=limit, threshold=1_000)

    points = [point for rise in drawing.rises for point in rise]
    assert len(points) == len(series)
    assert all(0 <= p.x <= WIDTH + 1e-6 and 0 <= p.y <= HEIGHT for p in points)


@given(readings)
def test_a_drop_joins_two_rises_at_each_compaction(series):
    drawing = lay_out_saw_tooth(series, threshold=None)

    assert len(drawing.drops) == sum(reading.compacted for reading in series[1:])
    for (start, end), (before, after) in zip(
        drawing.drops, pairwise(drawing.rises), strict=True
    ):
        assert start == before[-1]
        assert end == after[0]


def test_the_threshold_lies_where_a_reading_of_its_size_would():
    drawing = lay_out_saw_tooth([Reading(0), Reading(100)], limit=200, threshold=100)

    assert drawing.threshold_y == pytest.approx(50)
    assert drawing.rises[0][1].y == pytest.approx(50)
    assert drawing.limit_y == pytest.approx(0)


def test_a_trend_reaches_from_its_lowest_to_its_highest_value():
    assert [(p.x, p.y) for p in lay_out_trend([5, 9, 7])] == [
        (0, 100),
        (500, 0),
        (1000, 50),
    ]


def test_a_flat_trend_is_a_line_in_the_middle_and_none_is_nothing():
    assert {point.y for point in lay_out_trend([3, 3])} == {50}
    assert lay_out_trend([]) == ()
