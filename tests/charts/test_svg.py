"""The pieces of SVG that Python writes."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from compaction.charts.ruler import lay_out_ruler
from compaction.charts.svg import (
    choose_places,
    coord,
    draw_bars,
    draw_brackets,
    draw_dots,
)
from tests.charts.builders import Measure, make_session


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (12.5, "12.5"), (1 / 3, "0.33"), (1000.0, "1000")]
)
def test_a_coordinate_is_short_and_has_a_point(value, text):
    assert coord(value) == text


def test_hostile_text_in_a_title_stays_text():
    ruler = lay_out_ruler([Measure(0, role="tool")])

    drawn = draw_bars(ruler, name_bar=lambda bar: '</title><script>"&')

    assert "<script" not in drawn
    root = ET.fromstring(f"<svg>{drawn}</svg>")
    assert [title.text for title in root.iter("title")] == ['</title><script>"&']


def test_every_bar_is_drawn_once_and_says_its_message():
    ruler = lay_out_ruler(make_session(2, 5, 2))

    root = ET.fromstring(f"<svg>{draw_bars(ruler)}</svg>")

    places = sorted(int(rect.get("data-at", "")) for rect in root.iter("rect"))
    assert places == list(range(9))


def test_a_thousand_bars_stay_small():
    ruler = lay_out_ruler(make_session(4, 9_971, 25, tokens=777))

    drawn = draw_bars(ruler)

    assert drawn.count("<rect") <= 1_000
    assert len(drawn) < 100_000


def test_a_role_never_becomes_a_class():
    drawn = draw_bars(lay_out_ruler([Measure(0, role='x" onload="alert(1)')]))

    assert "onload" not in drawn
    assert 'class="bar other"' in drawn


def test_user_messages_are_dotted_and_tool_groups_bracketed():
    ruler = lay_out_ruler(
        [
            Measure(0, role="user"),
            Measure(1, group=1),
            Measure(2, group=1),
            Measure(3, role="user"),
        ]
    )

    assert draw_dots(ruler).count("M") == 2
    assert draw_brackets(ruler.groups).count("M") == 1


def test_a_cut_is_numbered_only_where_its_number_has_room():
    crowded = lay_out_ruler(make_session(1, 98, 1))
    roomy = lay_out_ruler(make_session(30, 40, 30))

    assert [place[1] for place in choose_places(crowded)] == [0, 99]
    assert [place[1] for place in choose_places(roomy)] == [0, 30, 70, 99]
    assert choose_places(lay_out_ruler([])) == []
