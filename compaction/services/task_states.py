"""Changes of a TaskState: versioned, and never one silently over another.

An operator saves against the version that stood on the page; when somebody was faster
the save is refused with all three versions. The agent's changes are relative (its
three tools), so they are made on whatever is newest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from compaction import wiring
from compaction.engine.task_state import TaskState, TaskStateError, Todo, render
from compaction.models import (
    Conversation,
    TaskState as TaskStateRow,
    TaskStateVersion,
    Todo as TodoRow,
)
from compaction.services.audit import Change, record_action
from compaction.services.conversations import refresh_conversation
from compaction.store.task_states import (
    TaskVersion,
    newest_task_version,
    task_version,
    todos_to_json,
)
from compaction.store.texts import readable

GOAL_CHARS = 4_000
SUBJECT_CHARS = 1_000
TODOS = 200
_ID_CHARS = 64
_TRIES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The TaskState as it stands after a save; `is_changed`: there is a new version."""

    version: int
    state: TaskState
    is_changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Somebody else saved first; nothing was written.

    `base` is what the operator saw (None when that version is unknown), `theirs` what
    stands now, `mine` what was to be saved.
    """

    base: TaskVersion | None
    theirs: TaskVersion
    mine: TaskState


def save_task_state(
    conversation: Conversation,
    state: TaskState,
    *,
    base_version: int,
    operator: User | None,
) -> Saved | Conflict:
    """Save an operator's TaskState if `base_version` still stands.

    Raises TaskStateError for a state that is too large or has an id twice.
    """
    state = _tidy(state)
    with transaction.atomic():
        row = _row_of(conversation)
        theirs = newest_task_version(conversation)
        if theirs.version == base_version and theirs.state == state:
            return Saved(version=base_version, state=state, is_changed=False)
        if not _write(row, state, base=base_version, author=operator, by_agent=False):
            newest = newest_task_version(conversation)
            base = task_version(conversation, base_version)
            return Conflict(base=base, theirs=newest, mine=state)
        record_action(
            operator,
            "edit_task_state",
            conversation,
            change=Change(before=_to_json(theirs.state), after=_to_json(state)),
        )
        refresh_conversation(conversation)
    return Saved(version=base_version + 1, state=state, is_changed=True)


def restore_task_state(
    conversation: Conversation,
    version: int,
    *,
    base_version: int,
    operator: User | None,
) -> Saved | Conflict:
    """Make an older version the newest; raises TaskStateError when it is unknown."""
    wanted = task_version(conversation, version)
    if wanted is None:
        raise TaskStateError("version_unknown", str(version))
    return save_task_state(
        conversation, wanted.state, base_version=base_version, operator=operator
    )


def change_by_agent(
    conversation: Conversation, change: Callable[[TaskState], TaskState]
) -> Saved:
    """Apply one of the agent's tools to the newest version, whoever wrote that.

    Raises TaskStateError for a change that the state refuses; the text of it is the
    tool's answer.
    """
    for _ in range(_TRIES):
        with transaction.atomic():
            row = _row_of(conversation)
            newest = newest_task_version(conversation)
            state = _tidy(change(newest.state))
            if state == newest.state:
                return Saved(version=newest.version, state=state, is_changed=False)
            if _write(row, state, base=newest.version, author=None, by_agent=True):
                refresh_conversation(conversation)
                return Saved(version=newest.version + 1, state=state, is_changed=True)
    raise TaskStateError("busy")


def _row_of(conversation: Conversation) -> TaskStateRow:
    return TaskStateRow.objects.get_or_create(conversation=conversation)[0]


def _write(
    row: TaskStateRow,
    state: TaskState,
    *,
    base: int,
    author: User | None,
    by_agent: bool,
) -> bool:
    """Write a version if `base` still stands: one conditional UPDATE decides."""
    now = timezone.now()
    taken = TaskStateRow.objects.filter(pk=row.pk, version=base).update(
        version=base + 1,
        goal=state.goal,
        tokens=_tokens_of(row.conversation, state),
        changed_at=now,
    )
    if not taken:
        return False
    row.todos.all().delete()
    TodoRow.objects.bulk_create(_todo_rows(row, state.todos))
    TaskStateVersion.objects.create(
        task_state=row,
        version=base + 1,
        goal=state.goal,
        todos=todos_to_json(state.todos),
        by_agent=by_agent,
        author=author,
        created_at=now,
    )
    return True


def _tokens_of(conversation: Conversation, state: TaskState) -> int:
    rendered = render(state)
    return wiring.get_counter(conversation.model).count(rendered) if rendered else 0


def _todo_rows(row: TaskStateRow, todos: Sequence[Todo]) -> list[TodoRow]:
    return [
        TodoRow(
            task_state=row,
            key=todo.id,
            subject=todo.subject,
            status=todo.status.value,
            position=position,
        )
        for position, todo in enumerate(todos)
    ]


def _tidy(state: TaskState) -> TaskState:
    """Make a state storable; raises TaskStateError for what must not be stored."""
    todos = tuple(
        replace(todo, id=readable(todo.id), subject=readable(todo.subject.strip()))
        for todo in state.todos
    )
    state = TaskState(goal=readable(state.goal.strip()), todos=todos)
    for code, is_wrong, detail in _checks(state):
        if is_wrong:
            raise TaskStateError(code, detail)
    return state


def _checks(state: TaskState) -> list[tuple[str, bool, str]]:
    ids = [todo.id for todo in state.todos]
    subjects = [todo.subject for todo in state.todos]
    twice = sorted({i for i in ids if ids.count(i) > 1})
    blank = [str(n) for n, subject in enumerate(subjects, 1) if not subject]
    longest = max(map(len, subjects), default=0)
    return [
        ("goal_too_long", len(state.goal) > GOAL_CHARS, f"{GOAL_CHARS:,}"),
        ("too_many_todos", len(ids) > TODOS, str(TODOS)),
        ("todo_without_subject", bool(blank), ", ".join(blank)),
        ("todo_too_long", longest > SUBJECT_CHARS, f"{SUBJECT_CHARS:,}"),
        ("todo_id_twice", bool(twice), ", ".join(twice)),
        ("todo_id_too_long", any(len(i) > _ID_CHARS for i in ids), str(_ID_CHARS)),
    ]


def _to_json(state: TaskState) -> dict[str, object]:
    return {"goal": state.goal, "todos": todos_to_json(state.todos)}
