"""Which session came from which, as lanes."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, strategies as st

from compaction.charts.lineage import MAX_LANES, lay_out_lineage


@dataclass(frozen=True)
class Node:
    id: str
    parent_id: str | None = None
    link: str = "compaction"
    undone: bool = False


def lanes_of(*nodes: Node) -> list[int]:
    return [row.lane for row in lay_out_lineage(nodes)]


def test_continuations_stay_in_one_lane():
    assert lanes_of(Node("a"), Node("b", "a"), Node("c", "b", "in_place")) == [0, 0, 0]


def test_a_branch_opens_a_lane_and_the_continuation_keeps_the_old_one():
    rows = lay_out_lineage([Node("a"), Node("x", "a", "branch"), Node("b", "a")])

    assert [row.lane for row in rows] == [0, 1, 0]
    assert [row.branch_from for row in rows] == [None, 0, None]


def test_an_undone_continuation_leaves_the_lane_to_the_next_one():
    nodes = [Node("a"), Node("u", "a", undone=True), Node("b", "a")]

    assert lanes_of(*nodes) == [0, 1, 0]


def test_a_second_continuation_of_one_parent_does_not_hide_the_first():
    assert lanes_of(Node("a"), Node("b", "a"), Node("c", "a")) == [0, 0, 1]


def test_a_lane_passes_every_row_between_parent_and_child():
    rows = lay_out_lineage(
        [Node("a"), Node("x", "a", "branch"), Node("y", "x"), Node("b", "a")]
    )

    passing = [(line.start, line.end) for line in rows[2].lines if line.lane == 0]
    assert passing == [("top", "bottom")]
    assert not rows[2].lines[0].dashed


def test_only_a_branch_is_dashed_where_it_runs_alone():
    rows = lay_out_lineage([Node("a"), Node("x", "a", "branch")])

    assert [line.dashed for row in rows for line in row.lines] == [True, True]


def test_a_parent_that_is_missing_or_comes_later_makes_a_root():
    rows = lay_out_lineage([Node("a", "gone"), Node("b", "c"), Node("c", "b")])

    assert [row.branch_from for row in rows[:2]] == [None, None]
    assert rows[0].lines == ()


@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(0, 30),
            st.sampled_from(["compaction", "in_place", "branch", "root"]),
            st.booleans(),
        ),
        max_size=30,
    )
)
def test_any_lineage_is_drawn_in_few_lanes_and_every_node_hangs_on_its_line(found):
    nodes = [
        Node(str(i), None if parent is None else str(parent), link, undone)
        for i, (parent, link, undone) in enumerate(found)
    ]

    rows = lay_out_lineage(nodes)

    assert len(rows) == len(nodes)
    assert all(0 <= row.lane < MAX_LANES for row in rows)
    for node, row in zip(nodes, rows, strict=True):
        has_parent = node.parent_id is not None and int(node.parent_id) < int(node.id)
        arrives = any(line.end == "node" for line in row.lines)
        assert arrives == has_parent
