"""The TaskState page: the state as it stands, its exact rendering, its history."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.engine.task_state import TaskState, render
from compaction.models import Conversation
from compaction.store.task_states import (
    TaskVersion,
    newest_task_version,
    task_history,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPage:
    """What the page shows beside the form.

    `rendering` is exactly what is appended to the system prompt; `tokens` counts it,
    None for a draft, which is not counted.
    """

    newest: TaskVersion
    rendering: str
    tokens: int | None
    history: tuple[TaskVersion, ...]
    open: int
    all: int


def task_page(conversation: Conversation, draft: TaskState | None = None) -> TaskPage:
    """Return the newest version, with the rendering of a draft if there is one."""
    newest = newest_task_version(conversation)
    shown = newest.state if draft is None else draft
    is_saved = shown == newest.state
    return TaskPage(
        newest=newest,
        rendering=render(shown),
        tokens=(newest.tokens or 0) if is_saved else None,
        history=tuple(task_history(conversation)),
        open=len(shown.open_todos),
        all=len(shown.todos),
    )
