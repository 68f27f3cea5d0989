"""TaskStates as the engine knows them, with their versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from compaction.engine.task_state import TaskState, Todo, TodoStatus
from compaction.models import Conversation, TaskState as TaskStateRow, TaskStateVersion

EMPTY = TaskState()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVersion:
    """A TaskState at one version; version 0 is the empty beginning.

    `author` is the operator's name, empty for the agent and for version 0.
    """

    version: int = 0
    state: TaskState = EMPTY
    author: str = ""
    by_agent: bool = False
    at: datetime | None = None
    tokens: int | None = None  # of the rendering; known for the newest version


def newest_task_version(conversation: Conversation) -> TaskVersion:
    """Return the TaskState of a conversation as it stands."""
    row = TaskStateRow.objects.filter(conversation=conversation).first()
    if row is None:
        return TaskVersion()
    todos = row.todos.order_by("position", "pk").values("key", "subject", "status")
    written = task_version(conversation, row.version)
    return TaskVersion(
        version=row.version,
        state=TaskState(goal=row.goal, todos=_todos(todos)),
        author=written.author if written else "",
        by_agent=written.by_agent if written else False,
        at=row.changed_at,
        tokens=row.tokens,
    )


def task_version(conversation: Conversation, version: int) -> TaskVersion | None:
    """Return one version, None when there is no such."""
    if version == 0:
        return TaskVersion()
    rows = _versions(conversation).filter(version=version)
    return next(map(_read_version, rows), None)


def task_history(conversation: Conversation, limit: int = 50) -> list[TaskVersion]:
    """Return the newest versions, newest first."""
    return [_read_version(row) for row in _versions(conversation)[:limit]]


def todos_to_json(todos: Iterable[Todo]) -> list[dict[str, str]]:
    """Write todos as a version keeps them."""
    return [
        {"key": todo.id, "subject": todo.subject, "status": todo.status.value}
        for todo in todos
    ]


def _versions(conversation: Conversation) -> Any:
    rows = TaskStateVersion.objects.filter(task_state__conversation=conversation)
    return rows.select_related("author").order_by("-version")


def _read_version(row: TaskStateVersion) -> TaskVersion:
    return TaskVersion(
        version=row.version,
        state=state_of_version(row),
        author=row.author.get_username() if row.author else "",
        by_agent=row.by_agent,
        at=row.created_at,
    )


def state_of_version(row: TaskStateVersion) -> TaskState:
    """Return the state that a version holds, whole."""
    return TaskState(goal=row.goal, todos=_todos(row.todos))


def _todos(rows: Iterable[Mapping[str, Any]]) -> tuple[Todo, ...]:
    return tuple(
        Todo(id=row["key"], subject=row["subject"], status=TodoStatus(row["status"]))
        for row in rows
    )
