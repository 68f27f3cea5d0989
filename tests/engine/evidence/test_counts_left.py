"""How much is left is one count: the newest telling of it holds."""

from __future__ import annotations

import pytest

from compaction.engine.evidence.collect import collect
from compaction.engine.evidence.items import EvidenceKind
from tests.engine.builders import assistant, user


def open_todos(*said):
    items = collect([user("Read all parts."), *map(assistant, said)])
    kind = EvidenceKind.TODO
    return [item.text for item in items if item.kind is kind and item.is_live]


def test_the_newest_count_replaces_the_ones_before():
    counts = [f"Reading number {n}; {7 - n} are left to read." for n in range(1, 5)]

    assert open_todos(*counts) == [counts[-1]]


@pytest.mark.parametrize(
    "last", ["Reading number 7; 0 are left to read.", "已读第 7 个，还剩 0 个待处理。"]
)
def test_nothing_is_open_once_none_is_left(last):
    assert open_todos("Reading number 6; 1 are left to read.", last) == []


def test_a_list_of_what_is_left_is_no_count():
    listed = "TODO: 3 checks are still to do: rotate the key, move the log"

    assert open_todos("2 are left to read.", listed)[-1] == listed
    assert len(open_todos("TODO: rotate the key", "TODO: move the log")) == 2
