"""A story as it is written down: who says what, which tools run, what comes after."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Self

from compaction.engine.messages import Message, Role, ToolCall
from compaction.management.demo.turns import ToldTurn

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4"
    "nGP8z4APMOGVHbHSAEEsAROxCnMTAAAAAElFTkSuQmCC"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """An error that was met, for the Timeline; `delay` in seconds."""

    reason: str
    action: str
    status: int | None = None
    attempt: int = 1
    attempts: int | None = None
    delay: float | None = None
    endpoint: str = ""
    detail: str = ""


@dataclass(slots=True, kw_only=True)
class Story:
    """One invented conversation; `chapters` are parted by compactions.

    `ago` is how long ago its newest message came; `edits` are texts put in the place
    of a sentence in the summary after the compaction of the same number; `summaries`
    are what a scripted model answers at it, where rules write the others.
    """

    key: str
    title: str
    source: str = "hermes"
    agent: str = ""
    model: str = "gpt-5-mini"
    window: int = 200_000
    ago: timedelta = timedelta(minutes=5)
    ended: bool = False
    goal: str = ""
    todos: tuple[Mapping[str, str], ...] = ()
    cooldown: tuple[float, str] | None = None
    troubles: list[Trouble] = field(default_factory=list)
    turn: ToldTurn | None = None
    edits: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    summaries: Mapping[int, str] = field(default_factory=dict)
    chapters: list[list[Message]] = field(default_factory=lambda: [[]])
    _calls: int = 0

    def add(self, message: Message) -> Self:
        """Add a message to the chapter at hand."""
        self.chapters[-1].append(message)
        return self

    def system(self, text: str) -> Self:
        """The system prompt."""
        return self.add(Message(role=Role.SYSTEM, content=text))

    def user(self, text: str) -> Self:
        """What the user says."""
        return self.add(Message(role=Role.USER, content=text))

    def shows(self, text: str) -> Self:
        """What the user says about a picture."""
        picture = {"type": "image_url", "image_url": {"url": PIXEL}}
        parts = ({"type": "text", "text": text}, picture)
        return self.add(Message(role=Role.USER, content=parts))

    def says(self, text: str) -> Self:
        """What the agent says."""
        return self.add(Message(role=Role.ASSISTANT, content=text))

    def does(self, tool: str, output: str, say: str = "", **arguments: Any) -> Self:
        """The agent runs one tool and gets its output."""
        self._calls += 1
        call_id = f"call_{self.key}_{self._calls}"
        call = ToolCall(
            id=call_id, name=tool, arguments=json.dumps(arguments, ensure_ascii=False)
        )
        self.add(Message(role=Role.ASSISTANT, content=say, tool_calls=(call,)))
        return self.add(Message(role=Role.TOOL, content=output, tool_call_id=call_id))

    def compacted(self) -> Self:
        """Here the conversation was compacted; a new chapter begins."""
        self.chapters.append([])
        return self

    def met(self, trouble: Trouble) -> Self:
        """Here the agent met an error."""
        self.troubles.append(trouble)
        return self

    def turned(self, turn: ToldTurn) -> Self:
        """An operator asked the console's own agent here; it met the troubles."""
        self.turn = turn
        self.user(turn.text)
        return self.says(turn.answer) if turn.answer else self

    def plans(self, goal: str, *todos: tuple[str, str]) -> Self:
        """Goal and todos, as (status, subject)."""
        self.goal = goal
        self.todos = tuple(
            {"id": str(number), "subject": subject, "status": status}
            for number, (status, subject) in enumerate(todos, 1)
        )
        return self
