"""Groups of messages, each around one planted fact, in the mix of a long session."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

from bench.quality import in_tools, spoken
from bench.quality.planter import Plant, Planter

_SORTS: Mapping[Callable[[Planter, int], Plant], int] = {
    spoken.plant_constraint: 8,
    spoken.plant_change: 4,
    spoken.plant_todo: 7,
    spoken.plant_closed: 5,
    spoken.plant_decision: 8,
    spoken.plant_question: 4,
    spoken.plant_identifier: 9,
    in_tools.plant_todo_list: 3,
    in_tools.plant_printed: 11,
    in_tools.plant_error: 14,
    in_tools.plant_file: 15,
    in_tools.plant_argument: 8,
    in_tools.plant_command: 4,
}
"""How often each sort of group occurs, in percent."""


def plants(dice: random.Random, count: int, chars: int) -> Iterator[Plant]:
    """Make so many groups; the first holds the goal."""
    planter = Planter(dice, chars)
    yield spoken.plant_goal(planter)
    sorts = [sort for sort, share in _SORTS.items() for _ in range(share)]
    for number in range(1, count):
        due = [later for later in planter.later if later.due <= number]
        if due:
            planter.later.remove(due[0])
            yield spoken.plant_end(planter, due[0])
        else:
            yield dice.choice(sorts)(planter, number)
