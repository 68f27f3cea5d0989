"""TaskState: goal and todos, outside the messages, never compacted (article 003).

Nothing of it is ever part of a conversation's list: it is rendered at the end of the
system prompt before each call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class TodoStatus(StrEnum):
    """Article 003's three, and Hermes' fourth."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


MARKS: Mapping[TodoStatus, str] = {
    TodoStatus.PENDING: "[ ]",
    TodoStatus.IN_PROGRESS: "[~]",
    TodoStatus.COMPLETED: "[x]",
    TodoStatus.CANCELLED: "[-]",
}
OPEN = frozenset({TodoStatus.PENDING, TodoStatus.IN_PROGRESS})


class TaskStateError(ValueError):
    """A change that a TaskState refuses; `code` for the templates."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """One thing to do."""

    id: str
    subject: str
    status: TodoStatus = TodoStatus.PENDING


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """The goal and the todos in their order."""

    goal: str = ""
    todos: tuple[Todo, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True when there is nothing to render."""
        return not self.goal and not self.todos

    @property
    def open_todos(self) -> tuple[Todo, ...]:
        """What is still to do."""
        return tuple(todo for todo in self.todos if todo.status in OPEN)


HEADING = "# Task State (live, never compressed)"


def render(state: TaskState) -> str:
    """Write the state as it stands at the end of the system prompt (article 003)."""
    if state.is_empty:
        return ""
    lines = [HEADING, "## Goal", state.goal, "## TODO"]
    lines += [f"{MARKS[todo.status]} {_one_line(todo.subject)}" for todo in state.todos]
    return "\n".join(lines)


def compose_system_prompt(prompt: str, state: TaskState) -> str:
    """Put the rendered state at the end of a system prompt."""
    rendered = render(state)
    return f"{prompt}\n\n{rendered}".lstrip() if rendered else prompt


def _one_line(text: str) -> str:
    return " ".join(text.split())


def set_goal(state: TaskState, goal: str) -> TaskState:
    """`task_set_goal`: replace the goal."""
    return replace(state, goal=goal.strip())


def write_todos(state: TaskState, items: Iterable[Mapping[str, Any]]) -> TaskState:
    """`todo_write`: replace the list; raises TaskStateError for a wrong item."""
    todos = tuple(read_todo(item, number) for number, item in enumerate(items, 1))
    ids = [todo.id for todo in todos]
    twice = next((i for i in ids if ids.count(i) > 1), None)
    if twice is not None:
        raise TaskStateError("todo_id_twice", twice)
    return replace(state, todos=todos)


def update_todo(state: TaskState, todo_id: str, status: str) -> TaskState:
    """`todo_update`: change the status of one todo."""
    if not any(todo.id == todo_id for todo in state.todos):
        raise TaskStateError("todo_unknown", todo_id)
    new = read_status(status)
    todos = tuple(
        replace(todo, status=new) if todo.id == todo_id else todo
        for todo in state.todos
    )
    return replace(state, todos=todos)


def read_todo(item: Mapping[str, Any], number: int) -> Todo:
    """Read one todo as agents write it (`subject` or Hermes' `content`)."""
    subject = str(item.get("subject") or item.get("content") or "").strip()
    if not subject:
        raise TaskStateError("todo_without_subject", str(number))
    raw_id = item.get("id")
    todo_id = str(number) if raw_id is None or raw_id == "" else str(raw_id)
    return Todo(
        id=todo_id,
        subject=subject,
        status=read_status(str(item.get("status") or TodoStatus.PENDING)),
    )


def read_status(status: str) -> TodoStatus:
    """Read a status; raises TaskStateError for an unknown one."""
    try:
        return TodoStatus(status)
    except ValueError:
        raise TaskStateError("todo_status_unknown", status) from None


def _tool(name: str, description: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(properties),
            },
        },
    }


_STATUS_SCHEMA = {"type": "string", "enum": [status.value for status in TodoStatus]}
TOOLS: tuple[Mapping[str, Any], ...] = (
    _tool(
        "task_set_goal",
        "Set what this task is to reach in the end.",
        {"goal": {"type": "string"}},
    ),
    _tool(
        "todo_write",
        "Replace the list of things to do.",
        {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "subject": {"type": "string"},
                        "status": _STATUS_SCHEMA,
                    },
                    "required": ["subject"],
                },
            }
        },
    ),
    _tool(
        "todo_update",
        "Change the status of one thing to do.",
        {"id": {"type": "string"}, "status": _STATUS_SCHEMA},
    ),
)
"""The three tools that maintain the state (article 003)."""
