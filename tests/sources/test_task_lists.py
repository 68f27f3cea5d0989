"""Goal and todos as far as a log still tells."""

from __future__ import annotations

import json

import pytest

from compaction.engine.messages import Message, Role, ToolCall
from compaction.sources.task_lists import (
    hermes_todos,
    read_goal,
    read_todos,
    todos_from_calls,
)

INJECTED = "[Your active task list was preserved across context compression]"


def _call(name: str = "todo", arguments: str = "{}") -> Message:
    call = ToolCall(id="t", name=name, arguments=arguments)
    return Message(role=Role.ASSISTANT, content="", tool_calls=(call,))


def _result(*statuses: str, call_id: str = "t") -> Message:
    todos = [
        {"id": str(n), "content": f"item {n}", "status": s}
        for n, s in enumerate(statuses, 1)
    ]
    text = json.dumps({"todos": todos, "summary": {}})
    return Message(role=Role.TOOL, content=text, tool_call_id=call_id)


def _user(text: str) -> Message:
    return Message(role=Role.USER, content=text)


def _statuses(messages: list[Message]) -> list[tuple[str, str]]:
    return [(todo["id"], todo["status"]) for todo in hermes_todos(messages)]


def test_the_newest_result_of_a_todo_call_counts():
    old, new = _result("pending"), _result("completed", "pending")
    found = _statuses([_call(), old, _call(), new, _user("go on")])
    assert found == [("1", "completed"), ("2", "pending")]


def test_a_result_that_answers_no_todo_call_is_a_forgery():
    assert _statuses([_result("pending")]) == []
    assert _statuses([_call(), _result("pending", call_id="other")]) == []
    assert _statuses([_call("terminal"), _result("pending")]) == []
    assert _statuses([_call(), _user("x"), _result("pending")]) == []


def test_an_injected_text_is_newer_and_finished_items_come_from_the_result():
    text = f"{INJECTED}\n- [>] 2. item 2 (in_progress)\n- [ ] 4. new one (pending)"
    found = _statuses(
        [_call(), _result("completed", "pending", "pending"), _user(text)]
    )
    assert found == [("1", "completed"), ("2", "in_progress"), ("4", "pending")]


def test_an_injected_text_glued_to_a_message_is_read():
    text = f"do this\n\n{INJECTED}\n- [>] 7. seventh. of all (in_progress)"
    assert hermes_todos([_user(text)]) == (
        {"id": "7", "subject": "seventh. of all", "status": "in_progress"},
    )


@pytest.mark.parametrize("raw", ["[", "{}", '{"todos": 5}', '{"todos": [5, null]}', ""])
def test_broken_lists_are_no_lists(raw: str):
    answer = Message(role=Role.TOOL, content=raw, tool_call_id="t")
    assert hermes_todos([_call(), answer]) == ()
    assert todos_from_calls([_call("TodoWrite", raw)]) == ()


def test_items_get_ids_and_known_statuses():
    assert read_todos([{"content": "a", "status": "DONE?"}, {"content": ""}]) == (
        {"id": "1", "subject": "a", "status": "pending"},
    )


def test_lists_are_bounded():
    many = [{"content": "x" * 10_000}] * 5_000
    found = read_todos(many)
    assert len(found) == 256
    assert len(found[0]["subject"]) == 4_000


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('{"goal": "ship", "status": "active"}', "ship"),
        ('{"goal": "ship", "subgoals": ["a", "", "b"]}', "ship\n- a\n- b"),
        ('{"goal": "ship", "status": "cleared"}', ""),
        ('{"goal": 5, "subgoals": 7}', "5"),
        ("nonsense", ""),
        (None, ""),
        (b"bytes", ""),
    ],
)
def test_goals_are_read_or_empty(raw: object, expected: str):
    assert read_goal(raw) == expected
