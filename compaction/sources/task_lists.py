"""The todo list and goal that an agent had, as far as its log still tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compaction.engine.messages import Message, Role
from compaction.sources.fields import label, listing, mapping, text
from compaction.sources.json_input import decode

_STATUSES = frozenset({"pending", "in_progress", "completed", "cancelled"})
_RESULT_CHARS = 512_000  # Hermes itself refuses a larger todo result
_ITEMS = 256
_PARALLEL_CALLS = 64  # how far before a result its call is looked for
_SUBJECT_CHARS = 4_000

_PLAN_TOOLS = {
    "TodoWrite": ("todos", "content"),  # Claude Code
    "update_plan": ("plan", "step"),  # Codex
    "todo": ("todos", "content"),  # Hermes, pi
}
_INJECTED = "[Your active task list was preserved across context compression]"
_INJECTED_ITEM = re.compile(r"- \[(.)\] ([^.\n]{1,100})\. (.*) \((\w+)\)\Z")

Todo = Mapping[str, Any]


def read_todos(items: object, subject_key: str = "content") -> tuple[Todo, ...]:
    """Read a list of todo objects; items without a subject are left out."""
    found = []
    for position, raw in enumerate(listing(items)[:_ITEMS]):
        item = mapping(raw)
        subject = label(item.get(subject_key) or item.get("content"), _SUBJECT_CHARS)
        if subject:
            ident = label(item.get("id"), 64) or str(position + 1)
            status = text(item.get("status")).lower()
            found.append(_todo(ident, subject, status))
    return tuple(found)


def _todo(ident: str, subject: str, status: str) -> Todo:
    known = status if status in _STATUSES else "pending"
    return {"id": ident, "subject": subject, "status": known}


def todos_from_calls(messages: Iterable[Message]) -> tuple[Todo, ...]:
    """Take the list from the newest call of a known planning tool."""
    for message in reversed(list(messages)):
        for call in reversed(message.tool_calls):
            if call.name in _PLAN_TOOLS and len(call.arguments) <= _RESULT_CHARS:
                list_key, subject_key = _PLAN_TOOLS[call.name]
                arguments = mapping(_decoded(call.arguments))
                if todos := read_todos(arguments.get(list_key), subject_key):
                    return todos
    return ()


def hermes_todos(messages: Sequence[Message]) -> tuple[Todo, ...]:
    """Take the list from the newest todo result or the newest re-injected text.

    The text that Hermes injects after a compaction holds only open items; finished
    ones are added back from the newest result before it.
    """
    injected: tuple[Todo, ...] = ()
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if message.is_result:
            if todos := _todos_of_result(messages, position):
                return _merged(todos, injected) if injected else todos
        elif not injected and message.role is Role.USER:
            injected = _injected_todos(message.content)
    return injected


def _todos_of_result(messages: Sequence[Message], position: int) -> tuple[Todo, ...]:
    content = messages[position].content
    if not isinstance(content, str) or len(content) > _RESULT_CHARS:
        return ()
    if '"todos"' not in content or not _answers_todo(messages, position):
        return ()
    return read_todos(mapping(_decoded(content)).get("todos"))


def _answers_todo(messages: Sequence[Message], position: int) -> bool:
    """A result counts only when an assistant's todo call before it has its id."""
    wanted = messages[position].tool_call_id
    for place in range(position - 1, max(-1, position - _PARALLEL_CALLS), -1):
        earlier = messages[place]
        if earlier.role is Role.ASSISTANT:
            return any(c.id == wanted and c.name == "todo" for c in earlier.tool_calls)
        if not earlier.is_result:
            return False
    return False


def _injected_todos(content: object) -> tuple[Todo, ...]:
    if not isinstance(content, str) or _INJECTED not in content:
        return ()
    lines = content.partition(_INJECTED)[2].splitlines()[: _ITEMS + 1]
    found = (_INJECTED_ITEM.match(line) for line in lines if len(line) < 5_000)
    return tuple(
        _todo(label(m[2], 64), label(m[3], _SUBJECT_CHARS), m[4]) for m in found if m
    )


def _merged(recorded: tuple[Todo, ...], injected: tuple[Todo, ...]) -> tuple[Todo, ...]:
    newer = {todo["id"]: todo for todo in injected}
    closed = [
        newer.pop(todo["id"], todo)
        for todo in recorded
        if todo["id"] in newer or todo["status"] in ("completed", "cancelled")
    ]
    return (*closed, *newer.values())


def _decoded(raw: str) -> Any:
    try:
        return decode(raw)
    except ValueError:
        return None


def read_goal(raw: object) -> str:
    """Read Hermes' stored goal (JSON of its `/goal` command), with sub-goals."""
    goal = mapping(_decoded(text(raw)))
    headline = label(goal.get("goal"), 10_000)
    if not headline or goal.get("status") == "cleared":
        return ""
    subgoals = [label(item, 2_000) for item in listing(goal.get("subgoals"))[:_ITEMS]]
    return "\n".join([headline, *(f"- {item}" for item in subgoals if item)])
