"""The window bar conserves what it is given."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, strategies as st

from compaction.charts.window import lay_out_window


@dataclass(frozen=True)
class Part:
    kind: str
    tokens: int


parts = st.lists(
    st.builds(Part, kind=st.sampled_from(["system", "middle"]), tokens=st.integers(0)),
    max_size=8,
)


@given(parts, st.integers(1, 10**7), st.none() | st.integers(1, 10**7))
def test_segments_fill_the_bar_without_gap_or_overlap(found, limit, threshold):
    bar = lay_out_window(found, limit=limit, threshold=threshold)

    assert sum(segment.width for segment in bar.segments) == pytest.approx(100)
    ends = [0.0]
    for segment in bar.segments:
        assert segment.x == pytest.approx(ends[-1])
        ends.append(segment.x + segment.width)
    assert ends[-1] == pytest.approx(100)


@given(parts, st.integers(1, 10**7))
def test_no_token_is_lost_between_the_parts_and_the_bar(found, limit):
    bar = lay_out_window(found, limit=limit)

    spent = [s for s in bar.segments if s.kind != "free"]
    assert sum(s.tokens for s in spent) == sum(p.tokens for p in found) == bar.used


def test_the_free_space_is_what_is_left_of_the_window():
    bar = lay_out_window([Part("head", 300)], limit=1_000)

    assert [(s.kind, s.tokens) for s in bar.segments] == [("head", 300), ("free", 700)]
    assert bar.free == 700


def test_the_threshold_stands_where_its_tokens_are():
    bar = lay_out_window([Part("head", 10)], limit=200, threshold=100)

    assert [(mark.kind, mark.x) for mark in bar.marks] == [("threshold", 50)]


def test_an_overfull_window_marks_its_own_end():
    bar = lay_out_window([Part("middle", 400)], limit=200, threshold=100)

    assert bar.is_over
    assert [(m.kind, m.x) for m in bar.marks] == [("threshold", 25), ("limit", 50)]
    assert [s.kind for s in bar.segments] == ["middle"]


@pytest.mark.parametrize(("x", "side"), [(1, "start"), (50, "middle"), (99, "end")])
def test_the_word_at_a_mark_is_written_to_the_side_with_room(x, side):
    bar = lay_out_window([], limit=100, threshold=x)

    assert bar.marks[0].anchor == side
