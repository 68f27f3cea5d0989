"""A TaskState as it stands in a form: a draft that buttons reorder before it is saved.

Every button of the form sends the whole form, so that reordering works without
scripts; nothing is stored until `save`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.http import QueryDict

from compaction.engine.task_state import TaskState, Todo, TodoStatus

SAVE = "save"
MERGE = "merge"
_MOST = 1_000  # rows read from one form; the service refuses far fewer


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDraft:
    """What stands in the form; `focus` names what to go on with after a button.

    `focus` is `<button>:<number>`, for example `up:2` or `subject:3`.
    """

    state: TaskState
    base_version: int
    focus: str = ""


def read_task_draft(post: QueryDict) -> TaskDraft:
    """Read a form; a status that nobody knows counts as pending."""
    fields = [post.getlist(f"todo_{name}") for name in ("key", "subject", "status")]
    rows = list(zip(*fields, strict=False))[:_MOST]
    todos = tuple(
        Todo(id=key, subject=subject, status=_status(status))
        for key, subject, status in rows
    )
    base = post.get("base_version", "")
    return TaskDraft(
        # Browsers send line breaks as CR LF; what was not edited must stay equal.
        state=TaskState(goal=post.get("goal", "").replace("\r\n", "\n"), todos=todos),
        base_version=int(base) if base.isdecimal() and len(base) < 10 else 0,
    )


def _status(text: str) -> TodoStatus:
    return TodoStatus(text) if text in set(TodoStatus) else TodoStatus.PENDING


def press(draft: TaskDraft, button: str) -> TaskDraft:
    """Do what a button of the form says: `add`, `up:N`, `down:N`, `remove:N`."""
    name, _, number = button.partition(":")
    if name == "add":
        return _add(draft)
    if not number.isdecimal() or int(number) >= len(draft.state.todos):
        return draft
    at = int(number)
    if name == "remove":
        return _remove(draft, at)
    return _move(draft, at, name) if name in ("up", "down") else draft


def _add(draft: TaskDraft) -> TaskDraft:
    todos = draft.state.todos
    taken = {todo.id for todo in todos}
    number = len(todos) + 1
    while str(number) in taken:
        number += 1
    added = (*todos, Todo(id=str(number), subject=""))
    return _with(draft, added, focus=f"subject:{len(todos)}")


def _remove(draft: TaskDraft, at: int) -> TaskDraft:
    todos = draft.state.todos
    left = todos[:at] + todos[at + 1 :]
    focus = f"remove:{min(at, len(left) - 1)}" if left else "add"
    return _with(draft, left, focus=focus)


def _move(draft: TaskDraft, at: int, way: str) -> TaskDraft:
    to = at - 1 if way == "up" else at + 1
    todos = list(draft.state.todos)
    if not 0 <= to < len(todos):
        return draft
    todos[at], todos[to] = todos[to], todos[at]
    is_at_end = to == (0 if way == "up" else len(todos) - 1)
    turned = "down" if way == "up" else "up"
    return _with(draft, tuple(todos), focus=f"{turned if is_at_end else way}:{to}")


def _with(draft: TaskDraft, todos: tuple[Todo, ...], *, focus: str) -> TaskDraft:
    return replace(draft, state=replace(draft.state, todos=todos), focus=focus)
