"""Numbers, times and foreign text as an operator reads them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from hypothesis import given, strategies as st

from compaction.templatetags.compaction_format import (
    ago,
    change,
    clip,
    duration,
    look,
    moment,
    percent,
    share,
    size_in_bytes,
    tokens,
    tokens_short,
    tone,
    visible,
)

NOW = datetime(2026, 11, 30, 14, 28, 28, tzinfo=UTC)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("show", "value", "text"),
    [
        (tokens, 141_208, "141,208"),
        (tokens, 0, "0"),
        (tokens_short, 999, "999"),
        (tokens_short, 8_000, "8.0K"),
        (tokens_short, 200_000, "200K"),
        (tokens_short, 1_048_576, "1.0M"),
        (change, -61_300, "−61,300"),
        (change, 12, "+12"),
        (change, 0, "±0"),
        (percent, 0.706, "71 %"),
        (percent, 0.021, "2.1 %"),
        (percent, -0.78, "−78 %"),
        (percent, -0.9997, "−99.9 %"),
        (percent, 1, "100 %"),
        (percent, 0, "0 %"),
        (duration, 222, "3 min 42 s"),
        (duration, 0.42, "420 ms"),
        (duration, 2.5, "2.5 s"),
        (duration, 0, "0 s"),
        (duration, 3_600, "1 h"),
        (duration, 90_000, "1 d 1 h"),
        (duration, timedelta(minutes=5), "5 min"),
        (size_in_bytes, 512, "512 B"),
        (size_in_bytes, 10_485_760, "10.0 MB"),
    ],
)
def test_a_number_is_shown_as_a_person_says_it(show, value, text):
    assert plain(show(value)) == text


@pytest.mark.parametrize(
    "show", [tokens, percent, duration, size_in_bytes, ago, change]
)
@pytest.mark.parametrize("missing", [None, ""])
def test_an_unknown_number_is_a_dash_and_not_a_zero(show, missing):
    assert show(missing) == "–"


def test_a_share_of_an_unknown_or_empty_whole_is_unknown():
    assert plain(share(50, 200)) == "25 %"
    assert share(50, 0) == "–"
    assert share(None, 200) == "–"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1, "now"),
        (12, "12 s ago"),
        (59.9, "59 s ago"),
        (3_599, "59 min ago"),
        (7_300, "2 h ago"),
        (86_400 * 3, "3 days ago"),
        (-90, "in 1 min"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(seconds, text):
    with time_machine.travel(NOW, tick=False):
        assert plain(ago(NOW - timedelta(seconds=seconds))) == text


def test_what_would_stay_hidden_is_made_visible():
    assert visible("a\x00b") == "a␀b"
    assert visible("\ud800") == "\N{REPLACEMENT CHARACTER}"
    assert visible("x\u202etxt.exe") == "x⟨U+202E⟩txt.exe"
    assert visible("line\n\tnext 旅行") == "line\n\tnext 旅行"


@given(st.text(st.characters(), max_size=80))
def test_whatever_a_transcript_holds_can_be_sent_to_a_browser(text):
    shown = visible(text)

    shown.encode("utf-8")
    assert "\x00" not in shown
    assert "\u202e" not in shown


def test_a_long_text_is_clipped_and_says_so():
    assert clip("abcdef", 3) == "abc…"
    assert clip("abc", 3) == "abc"
    assert clip("x" * 10_000_000, 5) == "xxxxx…"
    assert clip(None) == ""


def test_a_moment_leaves_no_space_around_itself():
    text = moment(NOW, "countdown")

    assert text.startswith("<time ")
    assert text.endswith("</time>")
    assert f'data-countdown="{int(NOW.timestamp())}"' in text
    assert moment(None) == "–"


def test_a_foreign_role_or_state_gets_a_known_class():
    assert look("assistant") == "assistant"
    assert look('x" class="panel') == "other"
    assert tone("stuck") == "bad"
    assert tone("something new") == "off"
