"""Goal and todos: read, edit, reorder, restore, and two editors at once."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from compaction.engine.task_state import TaskState, Todo, TodoStatus, render
from compaction.models import OperatorAction, Session
from compaction.selectors.task_merge import choose, lay_side_by_side
from compaction.services.task_states import change_by_agent, save_task_state
from compaction.store.task_states import newest_task_version
from tests.web.reading import count_queries, text_of
from tests.web.run_rows import HOSTILE, a_session

pytestmark = pytest.mark.django_db

READ = Todo(id="1", subject="read config.py", status=TodoStatus.COMPLETED)
WRITE = Todo(id="2", subject="write the finding")
STATE = TaskState(goal="Read every file", todos=(READ, WRITE))


def with_state(state: TaskState = STATE) -> Session:
    session = a_session()
    save_task_state(session.conversation, state, base_version=0, operator=None)
    return session


def state_of(session: Session) -> TaskState:
    return newest_task_version(session.conversation).state


def as_form(state: TaskState, **more: Any) -> dict[str, Any]:
    return {
        "goal": state.goal,
        "todo_key": [todo.id for todo in state.todos],
        "todo_subject": [todo.subject for todo in state.todos],
        "todo_status": [todo.status.value for todo in state.todos],
        "base_version": 1,
        "button": "save",
        **more,
    }


def press(client: Client, session: Session, state: TaskState, **more: Any):
    return client.post(f"/sessions/{session.pk}/task/change/", as_form(state, **more))


def draft_of(response) -> list[str]:
    return [todo.subject for todo in response.context["draft"].state.todos]


class TestPage:
    def test_the_rendering_is_word_for_word_what_the_agent_sees(self, as_viewer):
        page = as_viewer.get(f"/sessions/{with_state().pk}/task/")

        assert page.context["task"].rendering == render(STATE)
        assert "[x] read config.py\n[ ] write the finding" in page.content.decode()

    def test_an_empty_state_says_who_fills_it(self, as_viewer):
        page = text_of(as_viewer.get(f"/sessions/{a_session().pk}/task/"))

        assert "No goal and no todos yet." in page

    def test_a_viewer_sees_no_form(self, as_viewer):
        page = as_viewer.get(f"/sessions/{with_state().pk}/task/").content.decode()

        assert "read config.py" in page
        assert "todo_subject" not in page

    def test_a_stranger_finds_nothing(self, as_stranger):
        address = f"/sessions/{with_state().pk}/task/"

        assert as_stranger.get(address).status_code == 404
        assert as_stranger.post(f"{address}change/").status_code == 404

    def test_hostile_text_is_shown_and_does_nothing(self, as_operator):
        session = with_state(
            TaskState(goal=HOSTILE, todos=(Todo(id="1", subject=HOSTILE),))
        )

        page = as_operator.get(f"/sessions/{session.pk}/task/").content.decode()

        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page

    def test_more_versions_cost_no_more_queries(self, as_operator):
        few, many = with_state(), with_state()
        for number in range(1, 20):
            save_task_state(
                many.conversation,
                TaskState(goal=f"goal {number}", todos=(READ, WRITE)),
                base_version=number,
                operator=None,
            )

        assert count_queries(as_operator, f"/sessions/{few.pk}/task/") == (
            count_queries(as_operator, f"/sessions/{many.pk}/task/")
        )


class TestEdit:
    def test_a_change_is_saved_as_a_new_version(self, as_operator):
        session = with_state()
        wanted = TaskState(goal="Read all", todos=(READ,))

        response = press(as_operator, session, wanted)

        assert response.status_code == 303
        assert state_of(session) == wanted
        assert newest_task_version(session.conversation).version == 2
        assert OperatorAction.objects.last().verb == "edit_task_state"

    @pytest.mark.parametrize(
        ("button", "expected"),
        [
            ("down:0", ["write the finding", "read config.py"]),
            ("up:1", ["write the finding", "read config.py"]),
            ("up:0", ["read config.py", "write the finding"]),
            ("remove:0", ["write the finding"]),
            ("add", ["read config.py", "write the finding", ""]),
            ("remove:99", ["read config.py", "write the finding"]),
            ("nonsense", ["read config.py", "write the finding"]),
        ],
    )
    def test_buttons_change_the_draft_and_save_nothing(
        self, as_operator, button, expected
    ):
        session = with_state()

        response = press(as_operator, session, STATE, button=button)

        assert draft_of(response) == expected
        assert state_of(session) == STATE

    def test_the_button_that_moved_a_todo_keeps_the_focus(self, as_operator):
        three = TaskState(todos=(READ, WRITE, Todo(id="3", subject="third")))
        session = with_state(three)

        page = press(as_operator, session, three, button="down:0").content.decode()

        assert 'value="down:1" autofocus' in page

    def test_an_added_todo_gets_an_id_that_nobody_has(self, as_operator):
        taken = TaskState(todos=(Todo(id="2", subject="only"),))
        session = with_state(taken)

        response = press(as_operator, session, taken, button="add")

        assert [t.id for t in response.context["draft"].state.todos] == ["2", "3"]

    def test_a_todo_without_text_is_refused_and_the_draft_is_kept(self, as_operator):
        session = with_state()
        wrong = TaskState(goal="Mine", todos=(READ, Todo(id="3", subject="  ")))

        page = press(as_operator, session, wrong)

        assert page.status_code == 422
        assert "Todo 2 has no text" in text_of(page)
        assert page.context["draft"].state.goal == "Mine"
        assert state_of(session) == STATE

    def test_saving_what_stands_already_makes_no_version(self, as_operator):
        session = with_state()

        press(as_operator, session, STATE)

        assert newest_task_version(session.conversation).version == 1

    def test_line_breaks_of_browsers_are_no_change(self, as_operator):
        session = with_state(TaskState(goal="two\nlines"))

        press(as_operator, session, TaskState(goal="two\r\nlines"))

        assert newest_task_version(session.conversation).version == 1

    def test_an_older_version_is_restored(self, as_operator):
        session = with_state()
        press(as_operator, session, TaskState(goal="Other"))

        as_operator.post(
            f"/sessions/{session.pk}/task/restore/", {"version": 1, "base_version": 2}
        )

        assert state_of(session) == STATE
        assert newest_task_version(session.conversation).version == 3

    def test_a_viewer_may_change_nothing(self, as_viewer):
        session = with_state()

        assert press(as_viewer, session, TaskState(goal="x")).status_code == 403
        assert state_of(session) == STATE


class TestConflict:
    def test_who_saves_late_sees_all_three_and_overwrites_nothing(self, as_operator):
        session = with_state()
        press(as_operator, session, TaskState(goal="Theirs", todos=STATE.todos))

        late = press(as_operator, session, TaskState(goal="Mine", todos=STATE.todos))

        assert late.status_code == 409
        page = text_of(late)
        assert all(word in page for word in ("Theirs", "Mine", "Read every file"))
        assert state_of(session).goal == "Theirs"

    def test_it_says_when_the_agent_was_faster(self, as_operator):
        session = with_state()
        change_by_agent(session.conversation, lambda s: TaskState(goal="Agent"))

        late = press(as_operator, session, TaskState(goal="Mine"))

        assert "The agent saved version 2." in text_of(late)

    def test_what_is_chosen_is_saved_on_top_of_theirs(self, as_operator):
        session = with_state()
        press(as_operator, session, TaskState(goal="Theirs", todos=(READ,)))
        mine = TaskState(goal="Mine", todos=STATE.todos)
        press(as_operator, session, mine)

        done = press(
            as_operator,
            session,
            mine,
            button="merge",
            base_version=2,
            first_version=1,
            **{"merge-goal": "mine"},
        )

        assert done.status_code == 303
        assert state_of(session) == TaskState(goal="Mine", todos=(READ,))

    def test_without_a_choice_where_both_changed_nothing_is_saved(self, as_operator):
        session = with_state()
        press(as_operator, session, TaskState(goal="Theirs"))

        page = press(
            as_operator,
            session,
            TaskState(goal="Mine"),
            button="merge",
            base_version=2,
            first_version=1,
        )

        assert page.status_code == 409
        assert "choose a side" in text_of(page)
        assert state_of(session).goal == "Theirs"

    def test_a_third_who_was_faster_again_leads_to_another_choice(self, as_operator):
        session = with_state()
        press(as_operator, session, TaskState(goal="Second"))
        press(as_operator, session, TaskState(goal="Third"), base_version=2)

        page = press(
            as_operator,
            session,
            TaskState(goal="Mine"),
            button="merge",
            base_version=2,
            first_version=1,
            **{"merge-goal": "mine"},
        )

        assert page.status_code == 409
        assert "Third" in text_of(page)
        assert state_of(session).goal == "Third"


class TestMerge:
    def test_what_one_side_changed_is_proposed(self):
        theirs = TaskState(goal=STATE.goal, todos=(READ,))
        mine = TaskState(goal="Mine", todos=STATE.todos)

        merge = lay_side_by_side(STATE, theirs, mine)

        assert merge.goal.proposed == "mine"
        assert choose(merge, {}) == TaskState(goal="Mine", todos=(READ,))

    def test_what_both_added_is_kept(self):
        a, b = Todo(id="a", subject="A"), Todo(id="b", subject="B")
        theirs, mine = TaskState(todos=(a,)), TaskState(todos=(b,))

        merged = choose(lay_side_by_side(TaskState(), theirs, mine), {})

        assert merged == TaskState(todos=(a, b))

    def test_what_both_changed_must_be_chosen(self):
        theirs, mine = TaskState(goal="T"), TaskState(goal="M")
        merge = lay_side_by_side(TaskState(goal="B"), theirs, mine)

        assert choose(merge, {}) is None
        assert choose(merge, {"goal": "theirs"}) == theirs
        assert choose(merge, {"goal": "neither"}) is None
