"""The window of a running turn: its messages, their tokens, and when to compact.

Grows by one message in constant time; nothing here walks the conversation again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from compaction.engine.llm import Usage
from compaction.engine.messages import Message, ToolCall
from compaction.engine.outline import Outline, facts_of, outline_of
from compaction.engine.plan import Outcome
from compaction.engine.task_state import compose_system_prompt
from compaction.engine.triggers import ERRORS, Trigger, is_due, is_over
from compaction.engine.turn import Turn, TurnEnd, TurnStopped, World
from compaction.engine.wire import to_wire, wire_of

CHANGED = frozenset({Outcome.SUMMARISED, Outcome.PRUNED})
GROWN = 1.1
"""After a run that found nothing to do, the next waits for this much more."""


class Context:
    """What the next request holds, and how many tokens it has."""

    def __init__(self, turn: Turn, world: World) -> None:
        self._turn = turn
        self._world = world
        self._policy = turn.policy
        self._prompt = turn.system_prompt
        self._compactions = 0
        self._usage: int | None = None
        self._usage_at = 0
        self._waits_for_usage = False
        self._useless_below = 0  # tokens
        self._tools = tuple(world.toolbox.schemas)
        self._tool_tokens = world.counter.count(json.dumps(self._tools))
        self._load(list(turn.messages))

    def _load(self, messages: list[Message]) -> None:
        self.messages = messages
        self._outline: Outline = outline_of(messages, self._world.counter)
        self._wire: list[Mapping[str, Any]] = list(wire_of(messages))

    @property
    def window(self) -> int:
        """The window that is believed in, in tokens."""
        return self._policy.context_length

    @property
    def compactions(self) -> int:
        """How many compactions this turn has had."""
        return self._compactions

    @property
    def tools(self) -> tuple[Mapping[str, Any], ...]:
        """The schemas that every request carries."""
        return self._tools

    def add(self, message: Message) -> None:
        """Keep a message: recorded first, then part of the next request."""
        self._world.recorder.add_message(message)
        call = self._call_of(message)
        self.messages.append(message)
        self._outline.append(facts_of(message, self._world.counter, call=call))
        self._wire.append(to_wire(message))

    def _call_of(self, message: Message) -> ToolCall | None:
        if message.tool_call_id is None:
            return None
        for earlier in reversed(self.messages[-64:]):
            for call in earlier.tool_calls:
                if call.id == message.tool_call_id:
                    return call
        return None

    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the newest assistant message that have no result yet."""
        answered: set[str] = set()
        for message in reversed(self.messages):
            if not message.is_result:
                return tuple(c for c in message.tool_calls if c.id not in answered)
            answered.add(message.tool_call_id or "")
        return ()

    def request_messages(self) -> list[Mapping[str, Any]]:
        """The messages as they are sent, TaskState at the end of the system prompt."""
        prompt = self._system_prompt()
        if self.messages and self.messages[0].is_system:
            self._wire[0] = {**self._wire[0], "content": prompt}
            return self._wire
        return [{"role": "system", "content": prompt}, *self._wire]

    def _system_prompt(self) -> str:
        own = self._prompt
        if self.messages and self.messages[0].is_system:
            own = self.messages[0].text
        memory = self._world.memory()
        if memory:
            own = f"{own}\n\n{memory}".lstrip()
        return compose_system_prompt(own, self._world.task_state())

    def tokens(self) -> int:
        """Tokens of the next request: the provider's number and what came since."""
        if self._usage is not None:
            since = self._outline.tokens_between(self._usage_at, len(self._outline))
            return self._usage + since
        return self._outline.tokens + self._fixed_tokens()

    def _fixed_tokens(self) -> int:
        prompt = self._system_prompt()
        if self.messages and self.messages[0].is_system:
            prompt = prompt.removeprefix(self.messages[0].text)
        return self._world.counter.count(prompt) + self._tool_tokens

    def note_usage(self, usage: Usage | None) -> None:
        """Take over a real number: what the provider counted for all sent so far."""
        if usage is not None and usage.input_tokens > 0:
            self._usage = usage.input_tokens
            self._usage_at = len(self._outline)
            self._waits_for_usage = False
            if not is_over(usage.input_tokens, self._policy):
                self._compactions = 0  # what was spent on it has helped

    def compact_if_due(self) -> None:
        """Preflight: before a call, if the request reaches the threshold."""
        self._compact_when_due(Trigger.PREFLIGHT)

    def compact_after_tools(self, usage: Usage | None) -> None:
        """In the loop: after tool results, by real usage."""
        if usage is not None:
            self._compact_when_due(Trigger.IN_LOOP)

    def _compact_when_due(self, trigger: Trigger) -> None:
        # One real number must come in between (hermes#35054).
        if self._waits_for_usage:
            return
        tokens = self.tokens()
        if tokens < self._useless_below:
            return
        if is_due(tokens, len(self.messages), trigger, self._policy):
            if self._compactions >= self._turn.retry.compactions:
                raise TurnStopped(TurnEnd.COMPACTIONS_EXHAUSTED)
            self.compact(trigger)

    def compact(self, trigger: Trigger) -> None:
        """Let the host compact; ends the turn when nothing can shrink any more."""
        done = self._world.compact(tuple(self.messages), trigger, self.window)
        # A run that an agent can do without costs nothing while nothing is changed.
        self._compactions += done.outcome in CHANGED or trigger in ERRORS
        if done.outcome is Outcome.NOOP:
            self._useless_below = int(self.tokens() * GROWN)
        if done.outcome in CHANGED:
            self._load(list(done.messages))
            self._prompt = done.system_prompt or self._prompt
            self._usage = None
        elif done.outcome is Outcome.STUCK:
            raise TurnStopped(TurnEnd.STUCK)
        self._waits_for_usage = True

    def lower_window(self, window: int) -> None:
        """Believe in a smaller window from now on."""
        reserved = min(self._policy.reserved_output, window // 2)
        self._policy = self._policy.evolve(
            context_length=window, reserved_output=reserved
        )
