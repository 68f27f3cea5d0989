"""Goal and todos: three tools, one rendering, clear refusals."""

from __future__ import annotations

import pytest

from compaction.engine.task_state import (
    TaskState,
    TaskStateError,
    TodoStatus,
    compose_system_prompt,
    render,
    set_goal,
    update_todo,
    write_todos,
)

ITEMS: list[dict[str, object]] = [
    {"id": 1, "subject": "read a"},
    {"id": "b", "content": "read b"},
]


def test_writing_replaces_the_list():
    state = write_todos(write_todos(TaskState(), ITEMS), [{"subject": "only"}])

    assert [todo.subject for todo in state.todos] == ["only"]
    assert state.todos[0].id == "1"


def test_hermes_calls_the_subject_content():
    assert [t.subject for t in write_todos(TaskState(), ITEMS).todos] == [
        "read a",
        "read b",
    ]


def test_updating_changes_one_and_only_one():
    state = update_todo(write_todos(TaskState(), ITEMS), "b", "completed")

    assert [t.status for t in state.todos] == [
        TodoStatus.PENDING,
        TodoStatus.COMPLETED,
    ]
    assert [t.id for t in state.open_todos] == ["1"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda s: update_todo(s, "zzz", "completed"), "todo_unknown"),
        (lambda s: update_todo(s, "b", "maybe"), "todo_status_unknown"),
        (lambda s: write_todos(s, [{"id": 1}]), "todo_without_subject"),
        (lambda s: write_todos(s, [*ITEMS, *ITEMS]), "todo_id_twice"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused_by_code(change, code):
    with pytest.raises(TaskStateError) as refused:
        change(write_todos(TaskState(), ITEMS))

    assert refused.value.code == code


def test_an_empty_state_adds_nothing_to_the_prompt():
    assert render(TaskState()) == ""
    assert compose_system_prompt("Rules.", TaskState()) == "Rules."


def test_the_state_stands_at_the_end_of_the_prompt():
    prompt = compose_system_prompt("Rules.", set_goal(TaskState(), "Win."))

    assert prompt.startswith("Rules.\n\n# Task State")
    assert "## Goal\nWin." in prompt


def test_a_subject_of_several_lines_cannot_forge_a_todo():
    state = write_todos(TaskState(), [{"subject": "a\n[x] b"}])

    assert render(state).splitlines()[-1] == "[ ] a [x] b"


def test_a_cancelled_todo_has_its_own_mark():
    state = write_todos(TaskState(), [{"subject": "a", "status": "cancelled"}])

    assert render(state).endswith("[-] a")
    assert state.open_todos == ()
