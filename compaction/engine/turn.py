"""A turn of an agent as values: what it starts from, what it needs, how it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from compaction.engine.llm import ChatModel, Completion, ModelError
from compaction.engine.messages import Message, ToolCall
from compaction.engine.plan import Outcome
from compaction.engine.policy import CompactionPolicy
from compaction.engine.recovery.actions import Action
from compaction.engine.recovery.backoff import RetryPolicy, UniformRandom
from compaction.engine.recovery.failover import EndpointState
from compaction.engine.recovery.reasons import Decision
from compaction.engine.task_state import TaskState
from compaction.engine.tokens import TokenCounter
from compaction.engine.triggers import Trigger


class TurnEnd(StrEnum):
    """Why a turn ended, as a code for the templates."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    ITERATIONS_EXHAUSTED = "iterations_exhausted"
    RETRIES_EXHAUSTED = "retries_exhausted"
    CONTINUATIONS_EXHAUSTED = "continuations_exhausted"
    COMPACTIONS_EXHAUSTED = "compactions_exhausted"
    THINKING_BUDGET_EXHAUSTED = "thinking_budget_exhausted"
    IDENTICAL_CONTINUATION = "identical_continuation"
    EMPTY_REPLIES = "empty_replies"
    STUCK = "stuck"
    REFUSED = "refused"  # nothing helps against the error


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A place where a model answers; `window` in tokens."""

    name: str
    model: ChatModel
    window: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a turn starts from.

    `messages` end with the new user message, or with an unfinished group when a turn
    is resumed; `system_prompt` is sent in front unless the messages bring their own;
    `begun_calls` are ids of calls that had begun when a worker died.
    """

    messages: tuple[Message, ...]
    policy: CompactionPolicy
    endpoints: EndpointState
    system_prompt: str = ""
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    max_iterations: int = 40
    max_tokens: int | None = None
    begun_calls: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn ended; `endpoints` is where the next one starts from."""

    end: TurnEnd
    messages: tuple[Message, ...]
    endpoints: EndpointState
    iterations: int
    window: int
    error: ModelError | None = None
    decision: Decision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What the host's compaction did, with the list to go on with.

    `system_prompt` is the new generation's, '' where it is the same.
    """

    outcome: Outcome
    messages: tuple[Message, ...]
    system_prompt: str = ""


class Recorder(Protocol):
    """Keeps what happens as it happens, before the next thing does.

    Whatever it raises ends the turn at once and passes through: it was stopped, or
    another worker has taken it over.
    """

    def add_message(self, message: Message) -> None:
        """A message became part of the conversation."""

    def begin_call(self, call: ToolCall) -> None:
        """A tool call is about to run; it never runs twice."""

    def answered(self, endpoint: str, completion: Completion) -> None:
        """A model answered."""

    def failed(self, failure: CallFailure) -> None:
        """A call failed, and this is done about it."""

    def moved(self, event: Moved) -> None:
        """The endpoint or the window changed."""

    def stream(self, text: str) -> None:
        """A piece of the answer came in."""

    def check(self) -> None:
        """Raise if the turn was stopped or lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailure:
    """One failed call: try `attempt` of `attempts`, and a wait in seconds."""

    endpoint: str
    decision: Decision
    action: Action
    attempt: int
    attempts: int
    delay: float = 0.0
    error: ModelError | None = None
    note: str = ""


class Move(StrEnum):
    """What changed."""

    FAILED_OVER = "failed_over"
    RESTORED = "restored"
    WINDOW_LOWERED = "window_lowered"
    CONTINUED = "continued"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A change between calls; `number` of `limit` where there is a budget."""

    move: Move
    before: str = ""
    after: str = ""
    number: int = 0
    limit: int = 0


class TurnStopped(Exception):
    """The turn must end here; `end` says why."""

    def __init__(self, end: TurnEnd) -> None:
        super().__init__(end.value)
        self.end = end


class Toolbox(Protocol):
    """The tools of the agent; `run` never raises for what a model may send."""

    @property
    def schemas(self) -> Sequence[Mapping[str, Any]]:
        """What the model is told about the tools."""

    def run(self, call: ToolCall) -> str:
        """Do one call and return the text of its result."""


CompactNow = Callable[[tuple[Message, ...], Trigger, int], Compacted]
"""The host's compaction of these messages for a trigger and a window in tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything outside a turn, passed in: models, tools, clock, chance, keeping.

    `memory` returns what the system prompt says of it; `now` returns seconds, `sleep`
    waits for seconds and returns early when stopped.
    """

    endpoints: Mapping[str, Endpoint]
    toolbox: Toolbox
    counter: TokenCounter
    recorder: Recorder
    compact: CompactNow
    task_state: Callable[[], TaskState]
    now: Callable[[], float]
    sleep: Callable[[float], None]
    uniform: UniformRandom
    memory: Callable[[], str] = lambda: ""
