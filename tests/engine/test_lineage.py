"""Ids and titles of the sessions of a lineage."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from compaction.engine.lineage import base_title, new_session_id, next_title

NOW = datetime(2026, 11, 30, 20, 57, 25, tzinfo=UTC)


def test_an_id_is_the_time_and_six_hex_digits():
    assert new_session_id(NOW, "e7022700") == "20261130_205725_e70227"


@pytest.mark.parametrize("entropy", ["", "12345", "xyzxyz", "ABCDEF"])
def test_an_id_needs_six_hex_digits(entropy):
    with pytest.raises(ValueError, match="hex"):
        new_session_id(NOW, entropy)


@pytest.mark.parametrize(
    ("title", "taken", "expected"),
    [
        ("Fix login", [], "Fix login #2"),
        ("Fix login #2", [], "Fix login #3"),
        ("Fix login", ["Fix login #7", "Other #9"], "Fix login #8"),
        ("Issue #12 again", [], "Issue #12 again #2"),
        ("", [], ""),
        ("旅行计划", ["旅行计划 #2"], "旅行计划 #3"),
    ],
)
def test_the_next_title_counts_on_within_its_lineage(title, taken, expected):
    assert next_title(title, taken) == expected


def test_a_long_title_keeps_its_number_within_100_characters():
    title = next_title("x" * 300)

    assert len(title) == 100
    assert title.endswith(" #2")


def test_the_base_of_a_numbered_title_is_the_title():
    assert base_title(" Fix login #22 ") == "Fix login"
    assert base_title("#2") == "#2"
