"""The ruler is to scale, whole, and never crowded."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from compaction.charts.ruler import LENGTH, MAX_BARS, lay_out_ruler
from tests.charts.builders import Measure, make_session

sessions = st.lists(
    st.tuples(
        st.integers(0, 10**6),
        st.sampled_from(["head", "middle", "tail", ""]),
        st.sampled_from(["user", "assistant", "tool", "system", "stranger"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=60,
).map(
    lambda rows: [
        Measure(position=i, tokens=tokens, region=region, role=role, pruned=pruned)
        for i, (tokens, region, role, pruned) in enumerate(rows)
    ]
)


@given(sessions, st.integers(1, 70))
def test_bars_are_few_and_fill_the_ruler_exactly(items, max_bars):
    ruler = lay_out_ruler(items, max_bars=max_bars)

    assert len(ruler.bars) <= max(max_bars, 1)
    assert sum(bar.width for bar in ruler.bars) == pytest.approx(LENGTH)
    assert sum(band.width for band in ruler.bands) == pytest.approx(LENGTH)


@given(sessions, st.integers(1, 70))
def test_every_message_and_token_is_in_exactly_one_bar(items, max_bars):
    ruler = lay_out_ruler(items, max_bars=max_bars)

    covered = [p for bar in ruler.bars for p in range(bar.first, bar.last + 1)]
    assert covered == [item.position for item in items]
    assert sum(bar.tokens for bar in ruler.bars) == sum(i.tokens for i in items)
    assert sum(band.count for band in ruler.bands) == len(items)


@given(sessions)
def test_bands_meet_at_the_cuts(items):
    ruler = lay_out_ruler(items)

    for band, cut, following in zip(
        ruler.bands, ruler.cuts, ruler.bands[1:], strict=False
    ):
        assert band.x + band.width == pytest.approx(cut.x)
        assert cut.x == pytest.approx(following.x)
        assert cut.position == following.first
    assert len(ruler.cuts) == len(ruler.bands) - 1


def test_ten_thousand_messages_become_at_most_a_thousand_bars():
    ruler = lay_out_ruler(make_session(4, 9_971, 25))

    assert len(ruler.bars) <= MAX_BARS == 1_000
    assert ruler.count == 10_000
    assert ruler.is_gathered


def test_a_gathered_bar_never_reaches_over_a_cut():
    ruler = lay_out_ruler(make_session(3, 5_000, 7), max_bars=40)

    cuts = [cut.position for cut in ruler.cuts]
    assert cuts == [3, 5_003]
    assert not [b for b in ruler.bars for cut in cuts if b.first < cut <= b.last]


def test_widths_are_to_scale_by_tokens():
    ruler = lay_out_ruler([Measure(0, tokens=100), Measure(1, tokens=300)])

    assert [bar.width for bar in ruler.bars] == pytest.approx([250, 750])


def test_messages_without_tokens_still_stand_side_by_side():
    ruler = lay_out_ruler([Measure(0, tokens=0), Measure(1, tokens=0)])

    assert [bar.width for bar in ruler.bars] == pytest.approx([500, 500])


def test_a_gathered_bar_looks_like_what_most_of_its_tokens_are_spent_on():
    items = [
        Measure(0, tokens=5, role="user"),
        Measure(1, tokens=900, role="tool", pruned=True),
        Measure(2, tokens=10, role="assistant"),
    ]

    (bar,) = lay_out_ruler(items, max_bars=1).bars

    assert (bar.look, bar.pruned, bar.tokens) == ("tool", True, 915)


def test_a_summary_is_known_by_its_kind_and_a_foreign_role_is_other():
    looks = [
        bar.look
        for bar in lay_out_ruler(
            [Measure(0, role="user", kind="summary"), Measure(1, role="x onload=")]
        ).bars
    ]

    assert looks == ["summary", "other"]


def test_a_bracket_spans_a_tool_group_and_a_lone_message_has_none():
    items = [
        Measure(0, group=None),
        Measure(1, group="a"),
        Measure(2, group="a"),
        Measure(3, group="b"),
        Measure(4, group=None),
    ]

    groups = lay_out_ruler(items).groups

    assert [(group.x, group.width) for group in groups] == [(200, 400)]


def test_the_listed_messages_are_found_on_the_ruler():
    ruler = lay_out_ruler(make_session(0, 10, 0))

    span = ruler.span_of(2, 4)

    assert span is not None
    assert (span.x, span.width) == pytest.approx((200, 300))
    assert ruler.span_of(50, 60) is None


def test_an_empty_session_has_an_empty_ruler():
    ruler = lay_out_ruler([])

    assert (ruler.bars, ruler.bands, ruler.cuts) == ((), (), ())
