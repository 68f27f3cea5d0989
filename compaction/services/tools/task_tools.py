"""Goal and todos, changed by the agent on whatever version is newest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compaction.engine.task_state import (
    TaskState,
    TaskStateError,
    render,
    set_goal,
    update_todo,
    write_todos,
)
from compaction.engine.tools import ToolMistake
from compaction.models import Conversation
from compaction.services.task_states import change_by_agent

_MISTAKES: Mapping[str, str] = {
    "todo_unknown": "There is no todo with the id {}.",
    "todo_status_unknown": (
        "{} is no status; use pending, in_progress, completed or cancelled."
    ),
    "todo_without_subject": "Todo {} has no subject.",
    "todo_id_twice": "The id {} occurs twice.",
    "todo_no_object": "Todo {} is no object with a subject.",
    "goal_too_long": "The goal has more than {} characters.",
    "todo_too_long": "A todo has more than {} characters.",
    "too_many_todos": "There are more than {} todos.",
    "todo_id_too_long": "An id has more than {} characters.",
    "busy": "Others are changing the TaskState at this moment; try again.",
}


def task_set_goal(conversation: Conversation, *, goal: str) -> str:
    """Set the goal."""
    return _change(conversation, lambda state: set_goal(state, goal))


def todo_write(conversation: Conversation, *, items: list[Any]) -> str:
    """Replace the todos."""
    for number, item in enumerate(items, 1):
        if not isinstance(item, Mapping):
            raise ToolMistake(_MISTAKES["todo_no_object"].format(number))
    return _change(conversation, lambda state: write_todos(state, items))


def todo_update(conversation: Conversation, *, id: str, status: str) -> str:
    """Change the status of one todo."""
    return _change(conversation, lambda state: update_todo(state, id, status))


def _change(
    conversation: Conversation, change: Callable[[TaskState], TaskState]
) -> str:
    try:
        saved = change_by_agent(conversation, change)
    except TaskStateError as error:
        words = _MISTAKES.get(error.code, "The change was refused: {}.")
        raise ToolMistake(words.format(error.detail or error.code)) from None
    return render(saved.state) or "The TaskState is empty."
