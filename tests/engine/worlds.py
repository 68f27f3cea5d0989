"""A world for turns: scripted models, a clock that only waits, everything recorded."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from compaction.engine.compactor import compact
from compaction.engine.llm import ChatRequest, Completion, ModelError, Usage
from compaction.engine.messages import Message, ToolCall
from compaction.engine.plan import OpenCalls, Situation
from compaction.engine.policy import CompactionPolicy
from compaction.engine.presets import DEFAULT
from compaction.engine.recovery.failover import EndpointState, start
from compaction.engine.task_state import TaskState
from compaction.engine.tokens import RoughCounter
from compaction.engine.triggers import Trigger
from compaction.engine.turn import (
    CallFailure,
    Compacted,
    Endpoint,
    Moved,
    Turn,
    TurnEnd,
    TurnStopped,
    World,
)
from tests.engine.builders import ScriptedModel

Answer = Completion | ModelError


def says(text: str, *, finish: str = "stop", usage: int | None = None) -> Completion:
    counted = Usage(input_tokens=usage, output_tokens=5) if usage else None
    return Completion(text=text, finish_reason=finish, usage=counted)


def calls(
    *ids: str, usage: int | None = None, finish: str = "tool_calls"
) -> Completion:
    made = tuple(
        {"id": i, "function": {"name": "read_file", "arguments": '{"path": "a"}'}}
        for i in ids
    )
    counted = Usage(input_tokens=usage, output_tokens=5) if usage else None
    return Completion(text="", tool_calls=made, finish_reason=finish, usage=counted)


@dataclass
class PlayedModel:
    """Plays answers in order, the last one for ever; keeps copies of the requests."""

    answers: list[Answer]
    name: str = "model"
    window: int = 200_000
    requests: list[ChatRequest] = field(default_factory=list)

    def complete(self, request: ChatRequest, *, on_chunk: Any = None) -> Completion:
        self.requests.append(
            ChatRequest(
                messages=copy.deepcopy(list(request.messages)),
                tools=request.tools,
                max_tokens=request.max_tokens,
            )
        )
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, ModelError):
            raise answer
        return answer


@dataclass
class Diary:
    """A recorder that keeps all in memory; stops the turn after `stop_after` checks."""

    messages: list[Message] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)
    answers: list[tuple[str, Completion]] = field(default_factory=list)
    failures: list[CallFailure] = field(default_factory=list)
    moves: list[Moved] = field(default_factory=list)
    checks: int = 0
    stop_after: int | None = None

    def add_message(self, message: Message) -> None:
        self.messages.append(message)

    def begin_call(self, call: ToolCall) -> None:
        self.begun.append(call.id)

    def answered(self, endpoint: str, completion: Completion) -> None:
        self.answers.append((endpoint, completion))

    def failed(self, failure: CallFailure) -> None:
        self.failures.append(failure)

    def moved(self, event: Moved) -> None:
        self.moves.append(event)

    def stream(self, text: str) -> None:
        """Streaming is not looked at here."""

    def check(self) -> None:
        self.checks += 1
        if self.stop_after is not None and self.checks > self.stop_after:
            raise TurnStopped(TurnEnd.CANCELLED)


@dataclass
class Tools:
    """Answers every call with the same text."""

    text: str = "ok"
    ran: list[str] = field(default_factory=list)
    schemas: Sequence[dict[str, Any]] = ()

    def run(self, call: ToolCall) -> str:
        self.ran.append(call.id)
        return self.text


@dataclass
class Stage:
    """Everything a turn test looks at."""

    models: dict[str, PlayedModel]
    diary: Diary = field(default_factory=Diary)
    tools: Tools = field(default_factory=Tools)
    waits: list[float] = field(default_factory=list)
    triggers: list[Trigger] = field(default_factory=list)
    policy: CompactionPolicy = DEFAULT
    summariser: ScriptedModel = field(default_factory=ScriptedModel)
    state: TaskState = field(default_factory=TaskState)
    clock: float = 1_000.0

    def world(self) -> World:
        return World(
            endpoints={
                name: Endpoint(name=name, model=model, window=model.window)
                for name, model in self.models.items()
            },
            toolbox=self.tools,
            counter=RoughCounter(),
            recorder=self.diary,
            compact=self._compact,
            task_state=lambda: self.state,
            now=lambda: self.clock,
            sleep=self._sleep,
            uniform=lambda low, high: low,
        )

    def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock += seconds

    def _compact(
        self, messages: tuple[Message, ...], trigger: Trigger, window: int
    ) -> Compacted:
        self.triggers.append(trigger)
        done = compact(
            messages,
            self.policy.evolve(context_length=window),
            self.summariser,
            RoughCounter(),
            situation=Situation(trigger=trigger, open_calls=OpenCalls.LEAVE),
        )
        return Compacted(outcome=done.outcome, messages=done.messages)

    def turn(self, messages: Sequence[Message], **given: Any) -> Turn:
        given.setdefault("endpoints", self.endpoints())
        return Turn(messages=tuple(messages), policy=self.policy, **given)

    def endpoints(self) -> EndpointState:
        return start(list(self.models))


def stage(*answers: Answer, fallback: Sequence[Answer] = (), **given: Any) -> Stage:
    models = {"primary": PlayedModel(list(answers), name="primary")}
    if fallback:
        models["fallback"] = PlayedModel(list(fallback), name="fallback")
    return Stage(models=models, **given)
