"""Prefix and end marker go on and come off; sections read as they were written."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from compaction.engine.phases.summary_text import (
    SUMMARY_END,
    SUMMARY_PREFIX,
    Section,
    bare_summary,
    is_wrapped,
    parse_sections,
    render_sections,
    wrap_summary,
)

TEXT = """## Goal
Fix the login bug.

## Progress
### Done
- read app.py
- patched auth.py
  in two places
### In Progress
1. testing

## Next Steps
None"""


def test_a_wrapped_summary_opens_with_the_prefix_and_ends_with_the_marker():
    wrapped = wrap_summary(TEXT)

    assert wrapped.startswith(SUMMARY_PREFIX)
    assert wrapped.endswith(SUMMARY_END)
    assert is_wrapped(wrapped)


def test_wrapping_comes_off_again():
    assert bare_summary(wrap_summary(TEXT)) == TEXT


def test_a_prefix_within_a_prefix_comes_off_too():
    """hermes#35344: an old prefix was nested in a new one."""
    assert bare_summary(wrap_summary(wrap_summary(TEXT))) == TEXT


@pytest.mark.parametrize(
    "old",
    [
        "[CONTEXT SUMMARY]: ",
        "[CONTEXT COMPACTION] ",
        "[CONTEXT COMPACTION — REFERENCE ONLY] ",
    ],
)
def test_older_prefixes_come_off(old):
    assert bare_summary(old + TEXT) == TEXT


def test_a_text_without_a_prefix_stays():
    assert bare_summary(TEXT) == TEXT
    assert not is_wrapped(TEXT)
    assert bare_summary("") == ""


def test_sections_are_read_with_their_paths_and_items():
    assert parse_sections(TEXT) == (
        Section(path="Goal", items=("Fix the login bug.",)),
        Section(path="Progress"),
        Section(
            path="Progress / Done",
            items=("read app.py", "patched auth.py\n  in two places"),
        ),
        Section(path="Progress / In Progress", items=("testing",)),
        Section(path="Next Steps", items=("None",)),
    )


def test_text_before_any_heading_is_not_lost():
    (section,) = parse_sections("just words\nand more")

    assert section.path == ""
    assert "just words" in section.items[0]


ITEMS = st.lists(
    st.text("abcdef 中文.", min_size=1, max_size=20).map(str.strip).filter(bool),
    max_size=4,
).map(tuple)


@given(st.dictionaries(st.sampled_from(["A", "B", "B / x", "B / y"]), ITEMS))
def test_sections_that_are_written_read_back_the_same(given_sections):
    order = ["A", "B", "B / x", "B / y"]
    if any(path.startswith("B /") for path in given_sections):
        given_sections.setdefault("B", ())
    sections = tuple(
        Section(path=path, items=given_sections[path])
        for path in order
        if path in given_sections
    )

    assert parse_sections(render_sections(sections)) == sections
