"""Two TaskStates that came from one: what each side changed, and what was chosen.

Pure: values in, values out. Where only one side changed something, its change is
proposed; where both did, somebody must choose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compaction.engine.task_state import TaskState, Todo

THEIRS = "theirs"
MINE = "mine"
GOAL = "goal"


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoChoice:
    """One todo on three sides; None where it is not there.

    `name` is the field of the form, `proposed` is theirs, mine or empty: choose.
    """

    name: str
    base: Todo | None
    theirs: Todo | None
    mine: Todo | None
    proposed: str

    @property
    def is_open(self) -> bool:
        """True when the sides differ, so that there is something to choose."""
        return self.theirs != self.mine


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalChoice:
    """The goal on three sides."""

    base: str
    theirs: str
    mine: str
    proposed: str
    name: str = GOAL

    @property
    def is_open(self) -> bool:
        """True when the sides differ."""
        return self.theirs != self.mine


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """All that can be chosen, in their order, what only I have behind it."""

    goal: GoalChoice
    todos: tuple[TodoChoice, ...]

    @property
    def fields(self) -> tuple[GoalChoice | TodoChoice, ...]:
        """The goal and the todos, in the order of the screen."""
        return (self.goal, *self.todos)


def lay_side_by_side(base: TaskState, theirs: TaskState, mine: TaskState) -> Merge:
    """Compare three states todo by todo; todos are the same when their ids are."""
    sides = [{todo.id: todo for todo in side.todos} for side in (base, theirs, mine)]
    keys = dict.fromkeys([*sides[1], *sides[2]])
    return Merge(
        goal=GoalChoice(
            base=base.goal,
            theirs=theirs.goal,
            mine=mine.goal,
            proposed=_propose(base.goal, theirs.goal, mine.goal),
        ),
        todos=tuple(
            _choice(number, *(side.get(key) for side in sides))
            for number, key in enumerate(keys)
        ),
    )


def _choice(
    number: int, base: Todo | None, theirs: Todo | None, mine: Todo | None
) -> TodoChoice:
    return TodoChoice(
        name=f"todo-{number}",
        base=base,
        theirs=theirs,
        mine=mine,
        proposed=_propose(base, theirs, mine),
    )


def _propose(base: object, theirs: object, mine: object) -> str:
    if theirs in (mine, base):
        return MINE
    return THEIRS if mine == base else ""


def choose(merge: Merge, choices: Mapping[str, str]) -> TaskState | None:
    """Build the chosen state; None while something that both changed is not chosen."""
    chosen = {
        field.name: choices.get(field.name) or field.proposed for field in merge.fields
    }
    if any(side not in (THEIRS, MINE) for side in chosen.values()):
        return None
    goal = merge.goal.theirs if chosen[GOAL] == THEIRS else merge.goal.mine
    todos = [
        todo.theirs if chosen[todo.name] == THEIRS else todo.mine
        for todo in merge.todos
    ]
    return TaskState(goal=goal, todos=tuple(todo for todo in todos if todo))
