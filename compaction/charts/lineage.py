"""The lineage tree: which session came from which, as lanes beside a list of rows.

A continuation stays in its parent's lane; a branch, an undone continuation and a
further root open a lane of their own. Rows come in the order given, parents first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

MAX_LANES = 8
"""Lanes beyond are drawn in the last one; the rows still name their parents."""


class Generation(Protocol):
    """What the tree needs to know of a session."""

    @property
    def id(self) -> object:
        """Its id."""

    @property
    def parent_id(self) -> object:
        """The id of the session it came from, or None."""

    @property
    def link(self) -> str:
        """How it hangs on its parent: root, compaction, in_place or branch."""

    @property
    def undone(self) -> bool:
        """True when an operator undid the compaction that made it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A piece of a lane in one row, from `start` to `end`: top, node or bottom."""

    lane: int
    start: str
    end: str
    dashed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One session: the lane of its node, and the lines that pass."""

    lane: int
    lines: tuple[Line, ...]
    branch_from: int | None
    """Lane from which a horizontal line comes in; None for a continuation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    parent: int
    child: int
    lane: int
    dashed: bool


def lay_out_lineage(sessions: Iterable[Generation]) -> tuple[Row, ...]:
    """Lay out sessions as rows; a parent that does not come earlier counts as none."""
    nodes = list(sessions)
    parents = _parents(nodes)
    lanes = _lanes(nodes, parents)
    edges = [
        _Edge(
            parent=parent,
            child=child,
            lane=lanes[parent],
            dashed=lanes[parent] != lanes[child],
        )
        for child, parent in enumerate(parents)
        if parent is not None
    ]
    pieces = _pieces(edges, len(nodes))
    return tuple(
        Row(lane=lanes[i], lines=pieces[i], branch_from=_branch(parents, lanes, i))
        for i in range(len(nodes))
    )


def _parents(nodes: Sequence[Generation]) -> list[int | None]:
    seen: dict[object, int] = {}
    parents: list[int | None] = []
    for index, node in enumerate(nodes):
        parents.append(seen.get(node.parent_id))
        seen[node.id] = index
    return parents


def _lanes(nodes: Sequence[Generation], parents: Sequence[int | None]) -> list[int]:
    lanes: list[int] = []
    continued: set[int] = set()
    newest = -1
    for index, node in enumerate(nodes):
        parent = parents[index]
        follows = parent is not None and node.link != "branch" and not node.undone
        if parent is not None and follows and parent not in continued:
            continued.add(parent)
            lanes.append(lanes[parent])
        else:
            newest = min(newest + 1, MAX_LANES - 1)
            lanes.append(newest)
    return lanes


def _pieces(edges: Sequence[_Edge], rows: int) -> list[tuple[Line, ...]]:
    """Cut every edge into the rows that it passes; solid wins over dashed."""
    found: list[dict[tuple[int, str, str], bool]] = [{} for _ in range(rows)]
    for edge in edges:
        for row in range(edge.parent, edge.child + 1):
            start = "node" if row == edge.parent else "top"
            end = "node" if row == edge.child else "bottom"
            key = (edge.lane, start, end)
            found[row][key] = edge.dashed and found[row].get(key, True)
    return [
        tuple(
            Line(lane=lane, start=start, end=end, dashed=dashed)
            for (lane, start, end), dashed in row.items()
        )
        for row in found
    ]


def _branch(
    parents: Sequence[int | None], lanes: Sequence[int], index: int
) -> int | None:
    parent = parents[index]
    if parent is None or lanes[parent] == lanes[index]:
        return None
    return lanes[parent]
