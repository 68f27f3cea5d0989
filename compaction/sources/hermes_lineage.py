"""Which Hermes sessions continue which: the chains that rotation compactions made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.sources.fields import identifier, mapping, text
from compaction.sources.json_input import decode

SessionRow = Mapping[str, Any]
NewestMessage = Callable[[str], float]
"""Tells the timestamp (epoch seconds) of a session's newest message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The sessions of one conversation, oldest first, and how the first one began."""

    sessions: tuple[SessionRow, ...]
    branch_of: str = ""  # session that the first one left without a compaction
    notes: tuple[str, ...] = ()


def session_id(row: SessionRow) -> str:
    """Return the id of a session row."""
    return identifier(row.get("id"))


def _parent_id(row: SessionRow) -> str:
    return identifier(row.get("parent_session_id"))


def is_detached(row: SessionRow) -> bool:
    """True for a branch or a sub-agent: its parent is no earlier generation."""
    config = row.get("model_config")
    if isinstance(config, str) and (
        "_branched_from" in config or "_delegate" in config
    ):
        try:
            config = decode(config)
        except ValueError:
            return False
    marks = mapping(config)
    is_marked = bool(marks.get("_branched_from") or marks.get("_delegate_from"))
    return is_marked or row.get("source") == "tool"


def build_chains(
    rows: Iterable[SessionRow], newest_message: NewestMessage
) -> list[Chain]:
    """Group sessions into conversations, ordered by the start of the first session.

    A session continues its parent only when the parent ended with `compression` and
    the child is neither branch nor delegate (never by comparing times: Hermes says
    that a race may write them the wrong way round). Of several such children Hermes
    itself follows one; the others become conversations of their own.
    """
    by_id = {session_id(row): row for row in rows}
    following = _continuations(by_id, newest_message)
    continued = {session_id(row) for row in following.values()}
    ordered = sorted(by_id, key=lambda sid: (_number(by_id[sid], "started_at"), sid))
    chains, placed = [], set[str]()
    for is_cycle in (False, True):  # what only a cycle of parents leads to comes last
        for sid in ordered:
            if sid in placed or (sid in continued and not is_cycle):
                continue
            members = _follow(by_id[sid], following, placed)
            chains.append(_chain(members, by_id, is_cycle=is_cycle))
    return chains


def _continuations(
    by_id: Mapping[str, SessionRow], newest_message: NewestMessage
) -> dict[str, SessionRow]:
    children: defaultdict[str, list[SessionRow]] = defaultdict(list)
    for row in by_id.values():
        parent = by_id.get(_parent_id(row))
        if parent is not None and _continues(row, parent):
            children[_parent_id(row)].append(row)
    return {
        parent: _followed(found, newest_message) for parent, found in children.items()
    }


def _continues(row: SessionRow, parent: SessionRow) -> bool:
    is_closed = parent.get("end_reason") == "compression"
    return is_closed and row is not parent and not is_detached(row)


def _followed(
    children: Sequence[SessionRow], newest_message: NewestMessage
) -> SessionRow:
    if len(children) == 1:
        return children[0]

    def rank(row: SessionRow) -> tuple[Any, ...]:
        newest = newest_message(session_id(row)) or _number(row, "started_at")
        return _ending_rank(row), newest, _number(row, "started_at"), session_id(row)

    return max(children, key=rank)


def _ending_rank(row: SessionRow) -> int:
    if row.get("end_reason") == "compression":
        return 2
    return 1 if row.get("ended_at") is None else 0


def _follow(
    row: SessionRow, following: Mapping[str, SessionRow], placed: set[str]
) -> tuple[SessionRow, ...]:
    members: list[SessionRow] = []
    step: SessionRow | None = row
    while step is not None and session_id(step) not in placed:
        placed.add(session_id(step))
        members.append(step)
        step = following.get(session_id(step))
    return tuple(members)


def _chain(
    members: tuple[SessionRow, ...],
    by_id: Mapping[str, SessionRow],
    *,
    is_cycle: bool,
) -> Chain:
    first, tip = members[0], members[-1]
    parent = _parent_id(first)
    notes = []
    if is_cycle:
        notes.append("lineage_cycle")
    if parent and parent not in by_id:
        notes.append(f"parent_missing:{parent}")
    if text(tip.get("end_reason")) == "compression":
        notes.append(f"closed_without_continuation:{session_id(tip)}")
    branch = parent if parent in by_id and not is_cycle else ""
    return Chain(sessions=members, branch_of=branch, notes=tuple(notes))


def _number(row: SessionRow, key: str) -> float:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) and abs(value) < 1e18 else 0.0
