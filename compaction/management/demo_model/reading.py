"""Reading a request as the demo model does: all it knows stands in the request.

The model itself remembers nothing. Where it stands it reads from the TaskState at the
end of the system prompt, which no compaction takes away.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from compaction.engine.messages import CARRIED_OPENING, text_of
from compaction.engine.phases.summary_text import is_wrapped
from compaction.engine.recovery.continuation import CONTINUE_TEXT
from compaction.engine.task_state import HEADING, MARKS, TodoStatus

_STATUS = {mark: status for status, mark in MARKS.items()}


class Wish(StrEnum):
    """What a request asks for."""

    TALK = "talk"  # no tools: a greeting, a test of the connection
    SUMMARY = "summary"
    MEMORY = "memory"  # write down what must survive a compaction
    STEP = "step"  # the next step of the task
    REST = "rest"  # go on after an answer that was cut off


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A todo as the system prompt shows it; `number` counts from 1."""

    number: int
    subject: str
    status: TodoStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, read."""

    model: str
    system: str
    user: str  # the newest message of the user
    goal: str
    items: Sequence[Item]
    tools: frozenset[str]
    done: Mapping[str, str]  # since that message: name of a tool to its newest result
    is_summarised: bool  # since that message: calls that were made may not be seen
    messages: Sequence[Mapping[str, Any]]

    @property
    def wish(self) -> Wish:
        """What is asked for."""
        if not self.tools:
            return Wish.SUMMARY if self._shows_transcript else Wish.TALK
        if "task_set_goal" not in self.tools:
            return Wish.MEMORY
        newest = self.messages[-1] if self.messages else {}
        if text_of(newest.get("content")) == CONTINUE_TEXT:
            return Wish.REST
        return Wish.STEP

    @property
    def _shows_transcript(self) -> bool:
        return any("<transcript>" in _text(message) for message in self.messages)


def read_request(body: Mapping[str, Any]) -> Asked:
    """Read the body of a chat request; what is odd in it counts as absent."""
    messages = _objects(body.get("messages"))
    system = "\n".join(_text(m) for m in messages if m.get("role") == "system")
    goal, items = _task_state(system)
    user, since = _newest_user(messages)
    return Asked(
        model=str(body.get("model") or "demo"),
        system=system,
        user=user,
        goal=goal,
        items=items,
        tools=frozenset(_tool_names(body)),
        done=_results(since),
        is_summarised=any(_has_summary(_text(message)) for message in since),
        messages=messages,
    )


def _objects(value: object) -> list[Mapping[str, Any]]:
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict)]


def _text(message: Mapping[str, Any]) -> str:
    return text_of(message.get("content"))


def _tool_names(body: Mapping[str, Any]) -> list[str]:
    functions = [tool.get("function") for tool in _objects(body.get("tools"))]
    return [str(f.get("name")) for f in functions if isinstance(f, dict)]


def _task_state(system: str) -> tuple[str, list[Item]]:
    _before, found, rendered = system.rpartition(HEADING)
    if not found:
        return "", []
    goal, _mark, todos = rendered.partition("## TODO")
    goal = goal.replace("## Goal", "", 1).strip()
    lines = [line for line in todos.strip().splitlines() if line[:3] in _STATUS]
    items = [
        Item(number=number, subject=line[4:], status=_STATUS[line[:3]])
        for number, line in enumerate(lines, 1)
    ]
    return goal, items


def _newest_user(
    messages: Sequence[Mapping[str, Any]],
) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """Return what the user said last, and the messages from there on."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].get("role") == "user":
            said = _own_words(_text(messages[place]))
            if said:
                return said, messages[place:]
    return "", messages


def _own_words(text: str) -> str:
    """Return a text without what the console adds in the user's name."""
    if text == CONTINUE_TEXT or is_wrapped(text):
        return ""
    return text.partition(CARRIED_OPENING)[0].strip()


def _has_summary(text: str) -> bool:
    return is_wrapped(text) or CARRIED_OPENING in text


def _results(messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    names: dict[str, str] = {}
    results: dict[str, str] = {}
    for message in messages:
        for call in _objects(message.get("tool_calls")):
            function = call.get("function")
            if isinstance(function, dict):
                names[str(call.get("id"))] = str(function.get("name"))
        name = names.get(str(message.get("tool_call_id")))
        if message.get("role") == "tool" and name:
            results[name] = _text(message)
    return results


def prompt_text(body: Mapping[str, Any]) -> str:
    """Return all of a request that counts as input, for its usage."""
    asked = [body.get("messages") or [], body.get("tools") or []]
    return json.dumps(asked, ensure_ascii=False)
