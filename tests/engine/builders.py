"""Short hands for messages, and doubles of the engine's own seams."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from compaction.engine.llm import ChatRequest, Completion, ModelError, OnChunk
from compaction.engine.messages import Message, Role, ToolCall


def system(text: str = "You are a careful agent.") -> Message:
    return Message(role=Role.SYSTEM, content=text)


def user(text: str = "Please look at the logs.") -> Message:
    return Message(role=Role.USER, content=text)


def assistant(
    text: str | None = "I will.", *, calls: Sequence[str | ToolCall] = ()
) -> Message:
    made = tuple(c if isinstance(c, ToolCall) else call(c) for c in calls)
    return Message(role=Role.ASSISTANT, content=text, tool_calls=made)


def call(call_id: str, name: str = "read_file", **arguments: object) -> ToolCall:
    given = arguments or {"path": f"src/{call_id}.py"}
    return ToolCall(id=call_id, name=name, arguments=json.dumps(given))


def result(call_id: str, text: str = "ok") -> Message:
    return Message(role=Role.TOOL, content=text, tool_call_id=call_id)


def group(call_id: str, text: str = "ok") -> list[Message]:
    """A call and its result."""
    return [assistant("", calls=[call_id]), result(call_id, text)]


def long_conversation(rounds: int = 12, size: int = 600) -> list[Message]:
    """A system prompt, a request, many tool rounds, a reply, a last request."""
    messages = [system(), user("Read every file under src.")]
    for number in range(rounds):
        messages += group(f"c{number}", f"part {number} " + "word " * (size // 5))
    return [*messages, assistant("All parts are read."), user("Now list them.")]


@dataclass
class ScriptedModel:
    """Plays answers and errors in order and remembers the requests."""

    answers: list[str | Completion | ModelError] = field(
        default_factory=lambda: ["## Goal\nRead the files.\n## Next Steps\n- go on"]
    )
    name: str = "scripted"
    window: int = 200_000
    requests: list[ChatRequest] = field(default_factory=list)

    def complete(
        self, request: ChatRequest, *, on_chunk: OnChunk | None = None
    ) -> Completion:
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, ModelError):
            raise answer
        if isinstance(answer, str):
            answer = Completion(text=answer, finish_reason="stop", model=self.name)
        if on_chunk is not None:
            on_chunk(answer.text)
        return answer
