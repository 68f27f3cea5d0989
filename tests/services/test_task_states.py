"""TaskStates: versions, conflicts, restores, and the agent's own changes."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from compaction.engine.task_state import (
    TaskState,
    TaskStateError,
    Todo,
    TodoStatus,
    render,
    set_goal,
    update_todo,
)
from compaction.models import Conversation, OperatorAction, TaskState as TaskStateRow
from compaction.services.audit import verify_chain
from compaction.services.task_states import (
    Conflict,
    Saved,
    change_by_agent,
    restore_task_state,
    save_task_state,
)
from compaction.store.task_states import newest_task_version, task_history
from compaction.wiring import get_counter
from tests.conversations import store_session

pytestmark = pytest.mark.django_db

FILES = TaskState(
    goal="Read every file under agents",
    todos=(
        Todo(id="1", subject="read config.py", status=TodoStatus.COMPLETED),
        Todo(id="2", subject="read s05.py", status=TodoStatus.IN_PROGRESS),
    ),
)


@pytest.fixture
def conversation():
    return store_session().conversation


def save(conversation, state, base, operator=None):
    return save_task_state(conversation, state, base_version=base, operator=operator)


def test_a_conversation_begins_with_an_empty_version_zero(conversation):
    newest = newest_task_version(conversation)

    assert (newest.version, newest.state) == (0, TaskState())


def test_a_save_is_a_new_version_with_its_author(conversation, operator):
    saved = save(conversation, FILES, 0, operator)

    newest = newest_task_version(conversation)
    assert saved == Saved(version=1, state=FILES, is_changed=True)
    assert (newest.version, newest.state, newest.author) == (1, FILES, "olaf")


def test_the_order_of_the_todos_is_kept(conversation):
    turned = TaskState(todos=FILES.todos[::-1])
    save(conversation, FILES, 0)
    save(conversation, turned, 1)

    assert newest_task_version(conversation).state.todos == FILES.todos[::-1]


def test_tokens_are_those_of_the_rendering_and_count_in_the_window(conversation):
    before = Conversation.objects.get().tokens
    save(conversation, FILES, 0)

    tokens = TaskStateRow.objects.get().tokens
    assert tokens == get_counter(conversation.model).count(render(FILES))
    after = Conversation.objects.get()
    assert after.tokens == before + tokens
    assert after.bands["task"] == tokens


def test_who_saves_on_an_old_version_gets_all_three_and_writes_nothing(
    conversation, operator, admin
):
    save(conversation, FILES, 0, operator)
    theirs = TaskState(goal="theirs")
    save(conversation, theirs, 1, admin)

    conflict = save(conversation, TaskState(goal="mine"), 1, operator)

    assert isinstance(conflict, Conflict)
    assert conflict.base is not None
    assert conflict.base.state == FILES
    assert (conflict.theirs.state, conflict.theirs.author) == (theirs, "ada")
    assert conflict.mine == TaskState(goal="mine")
    assert newest_task_version(conversation).state == theirs


def test_a_conflict_leaves_no_trace_in_the_record(conversation, operator):
    save(conversation, FILES, 0, operator)
    save(conversation, TaskState(goal="late"), 0, operator)

    assert OperatorAction.objects.count() == 1


def test_saving_what_stands_already_makes_no_version(conversation, operator):
    save(conversation, FILES, 0, operator)

    assert save(conversation, FILES, 1, operator) == Saved(
        version=1, state=FILES, is_changed=False
    )
    assert OperatorAction.objects.count() == 1


def test_an_older_version_can_be_made_the_newest_again(conversation, operator):
    save(conversation, FILES, 0)
    save(conversation, TaskState(goal="other"), 1)

    saved = restore_task_state(conversation, 1, base_version=2, operator=operator)

    assert saved == Saved(version=3, state=FILES, is_changed=True)
    assert [v.version for v in task_history(conversation)] == [3, 2, 1]


def test_a_restore_of_the_empty_beginning_clears_everything(conversation):
    save(conversation, FILES, 0)
    restore_task_state(conversation, 0, base_version=1, operator=None)

    assert newest_task_version(conversation).state == TaskState()
    assert newest_task_version(conversation).tokens == 0


def test_a_version_that_never_was_cannot_be_restored(conversation):
    with pytest.raises(TaskStateError) as refused:
        restore_task_state(conversation, 7, base_version=0, operator=None)

    assert refused.value.code == "version_unknown"


def test_the_agent_changes_the_newest_version_whoever_wrote_it(conversation, operator):
    save(conversation, FILES, 0, operator)

    saved = change_by_agent(conversation, lambda s: update_todo(s, "2", "completed"))

    newest = newest_task_version(conversation)
    assert saved.version == newest.version == 2
    assert newest.state.todos[1].status is TodoStatus.COMPLETED
    assert newest.by_agent
    assert newest.author == ""


def test_a_change_the_state_refuses_reaches_the_agent_and_changes_nothing(conversation):
    with pytest.raises(TaskStateError, match="todo_unknown"):
        change_by_agent(conversation, lambda s: update_todo(s, "99", "completed"))

    assert newest_task_version(conversation).version == 0


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (TaskState(goal="x" * 4_001), "goal_too_long"),
        (TaskState(todos=(Todo(id="1", subject=" "),)), "todo_without_subject"),
        (TaskState(todos=(Todo(id="1", subject="a"),) * 2), "todo_id_twice"),
        (TaskState(todos=(Todo(id="1", subject="a" * 1_001),)), "todo_too_long"),
        (TaskState(todos=(Todo(id="i" * 65, subject="a"),)), "todo_id_too_long"),
        (
            TaskState(todos=tuple(Todo(id=str(n), subject="a") for n in range(201))),
            "too_many_todos",
        ),
    ],
)
def test_a_state_that_cannot_be_kept_is_refused_by_name(conversation, state, code):
    with pytest.raises(TaskStateError) as refused:
        save(conversation, state, 0)

    assert refused.value.code == code


def test_hostile_characters_are_made_visible_and_stored(conversation):
    save(conversation, TaskState(goal="a\x00b\ud800", todos=()), 0)

    assert newest_task_version(conversation).state.goal == "a␀b\ufffd"


def test_the_record_holds_before_and_after(conversation, operator):
    save(conversation, FILES, 0, operator)
    save(conversation, TaskState(goal="g"), 1, operator)

    action = OperatorAction.objects.latest("pk")
    assert action.before["goal"] == FILES.goal
    assert action.after == {"goal": "g", "todos": []}
    assert verify_chain().is_whole


@pytest.mark.django_db(transaction=True)
def test_of_two_who_save_at_once_exactly_one_wins(operator):
    conversation = store_session().conversation
    results = []
    together = threading.Barrier(4)

    def press(number):
        together.wait()
        try:
            state = TaskState(goal=f"goal {number}")
            results.append(save(conversation, state, 0, operator))
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    winners = [result for result in results if isinstance(result, Saved)]
    assert len(results) == 4
    assert len(winners) == 1
    assert newest_task_version(conversation).state == winners[0].state


@pytest.mark.django_db(transaction=True)
def test_changes_of_the_agent_and_an_operator_are_never_lost(operator):
    conversation = store_session().conversation
    together = threading.Barrier(3)

    def work(number):
        together.wait()
        try:
            change_by_agent(
                conversation, lambda s: set_goal(s, f"{s.goal} agent{number}")
            )
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    newest = newest_task_version(conversation)
    assert newest.version == 3
    assert sorted(newest.state.goal.split()) == ["agent0", "agent1", "agent2"]
