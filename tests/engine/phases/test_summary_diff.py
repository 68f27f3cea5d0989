"""What an update did with each item of a summary."""

from __future__ import annotations

from compaction.engine.phases.summary_diff import Change, diff_summaries

OLD = """## Goal
Read every file.
## Constraints & Preferences
- Do not touch vendor/.
- Keep Python 3.11.
## Progress
### Done
- Read s01.
### In Progress
- Read s02.
- Reading s05, then s06 and the rest of it.
"""
NEW = """## Goal
Read every file.
## Constraints & Preferences
- Do not touch `vendor/`.
## Progress
### Done
- Read s01.
- Read s02.
- Found 14 uses in 6 files.
### In Progress
- Reading s05, then s06 and nothing of it.
"""


def section(path):
    diff = diff_summaries(OLD, NEW)
    return next(s for s in diff.sections if s.path == path)


def test_an_item_that_stands_is_kept_whatever_its_marks():
    assert [i.change for i in section("Goal").items] == [Change.KEPT]
    assert section("Constraints & Preferences").items[0].change is Change.KEPT


def test_an_item_that_is_nowhere_is_gone():
    gone = [
        i for i in section("Constraints & Preferences").items if i.change is Change.GONE
    ]

    assert [i.before for i in gone] == ["Keep Python 3.11."]


def test_a_finished_item_moved():
    moved = [i for i in section("Progress / Done").items if i.change is Change.MOVED]

    assert [(i.after, i.moved_from) for i in moved] == [
        ("Read s02.", "Progress / In Progress")
    ]


def test_a_new_item_is_added():
    assert section("Progress / Done").count(Change.ADDED) == 1


def test_a_changed_item_is_reworded_word_by_word():
    (item,) = section("Progress / In Progress").items

    assert item.change is Change.REWORDED
    assert ("delete", "the rest ") in item.words
    assert ("insert", "nothing ") in item.words
    assert "".join(t for op, t in item.words if op != "delete") == item.after


def test_nothing_before_means_all_is_added():
    diff = diff_summaries("", NEW)

    assert diff.count(Change.ADDED) == 6
    assert diff.count(Change.GONE) == 0


def test_the_same_twice_is_all_kept():
    diff = diff_summaries(NEW, NEW)

    assert diff.count(Change.KEPT) == 6
    assert sum(len(s.items) for s in diff.sections) == 6


def test_chinese_is_compared_by_characters():
    diff = diff_summaries(
        "## Goal\n修复登录页面的错误", "## Goal\n修复登录页面的大错误"
    )

    assert diff.count(Change.REWORDED) == 1


def test_a_none_that_gave_way_to_an_item_was_not_dropped():
    diff = diff_summaries("## Done\nNone", "## Done\n- read s01")

    assert (diff.count(Change.ADDED), diff.count(Change.GONE)) == (1, 0)
    both = diff_summaries("## Done\nNone", "## Done\nNone.")
    assert both.count(Change.KEPT) == 1


def test_an_item_that_stands_twice_is_matched_once():
    diff = diff_summaries("## A\n- x y z", "## A\n- x y z\n- x y z")

    assert (diff.count(Change.KEPT), diff.count(Change.ADDED)) == (1, 1)
