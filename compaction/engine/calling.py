"""One model call with its recovery: classify, decide, wait, compact or switch."""

from __future__ import annotations

from dataclasses import replace

from compaction.engine.context import Context
from compaction.engine.llm import ChatRequest, Completion, ErrorKind, ModelError
from compaction.engine.recovery.actions import (
    Action,
    Spent,
    choose_action,
    limited_for,
)
from compaction.engine.recovery.backoff import wait_before
from compaction.engine.recovery.classification import classify
from compaction.engine.recovery.failover import fail_over
from compaction.engine.recovery.probe import LONG_CONTEXT_WINDOW, next_window
from compaction.engine.recovery.reasons import Decision, Reason
from compaction.engine.triggers import Trigger
from compaction.engine.turn import (
    CallFailure,
    Endpoint,
    Move,
    Moved,
    Turn,
    TurnEnd,
    TurnStopped,
    World,
)

_TRIGGERS = {
    Reason.PAYLOAD_TOO_LARGE: Trigger.PAYLOAD_TOO_LARGE,
    Reason.IMAGE_TOO_LARGE: Trigger.PAYLOAD_TOO_LARGE,
    Reason.LONG_CONTEXT_TIER: Trigger.LONG_CONTEXT_TIER,
}
SMALLEST_OUTPUT = 256


class Caller:
    """Makes the calls of one turn; counts what they use up."""

    def __init__(self, turn: Turn, world: World, context: Context) -> None:
        self._turn = turn
        self._world = world
        self._context = context
        self._spent = Spent()
        self._max_tokens = turn.max_tokens
        self.endpoints = turn.endpoints
        self.last_error: ModelError | None = None
        self.last_decision: Decision | None = None

    def call(self, *, output_factor: int = 1) -> Completion:
        """Get one answer, however many tries it takes within the budgets."""
        self._spent = replace(self._spent, attempts=0, shrunk=0)
        self._max_tokens = self._turn.max_tokens
        if self._max_tokens is not None:
            self._max_tokens *= output_factor
        while True:
            self._world.recorder.check()
            try:
                completion = self._ask()
            except ModelError as error:
                self._recover(error)
                continue
            self._context.note_usage(completion.usage)
            self._world.recorder.answered(self.endpoints.name, completion)
            return completion

    def _ask(self) -> Completion:
        endpoint = self._endpoint
        request = ChatRequest(
            messages=self._context.request_messages(),
            tools=self._context.tools,
            max_tokens=self._max_tokens,
        )
        return endpoint.model.complete(request, on_chunk=self._world.recorder.stream)

    @property
    def _endpoint(self) -> Endpoint:
        return self._world.endpoints[self.endpoints.name]

    def _recover(self, error: ModelError) -> None:
        decision = classify(error)
        self.last_error, self.last_decision = error, decision
        self._spent = replace(
            self._spent,
            attempts=self._spent.attempts + 1,
            compactions=self._context.compactions,
        )
        left = len(self.endpoints.order) - self.endpoints.current - 1
        retry = self._turn.retry
        action = choose_action(decision, self._spent, retry, endpoints_left=left)
        delay = self._delay(decision) if action is Action.RETRY else 0.0
        self._record(decision, action, delay, error)
        self._act(action, decision, delay)

    def _delay(self, decision: Decision) -> float:
        return wait_before(
            self._spent.attempts,
            self._turn.retry,
            self._world.uniform,
            retry_after=decision.retry_after,
        )

    def _record(
        self,
        decision: Decision,
        action: Action,
        delay: float,
        error: ModelError | None,
    ) -> None:
        self._world.recorder.failed(
            CallFailure(
                endpoint=self.endpoints.name,
                decision=decision,
                action=action,
                attempt=self._spent.attempts,
                attempts=self._turn.retry.attempts,
                delay=delay,
                error=error,
            )
        )

    def _act(self, action: Action, decision: Decision, delay: float) -> None:
        if action is Action.RETRY:
            self._world.sleep(delay)
        elif action is Action.COMPACT:
            self._compact(decision)
        elif action is Action.FAIL_OVER:
            self._switch(decision)
        elif action is Action.SHRINK_OUTPUT:
            self._shrink_output(decision)
        else:
            raise TurnStopped(self._end(decision))

    def _end(self, decision: Decision) -> TurnEnd:
        if decision.should_compact:
            return TurnEnd.COMPACTIONS_EXHAUSTED
        return TurnEnd.RETRIES_EXHAUSTED if decision.retryable else TurnEnd.REFUSED

    def _compact(self, decision: Decision) -> None:
        window = self._context.window
        if decision.reason is Reason.CONTEXT_OVERFLOW:
            self._lower(next_window(window, decision.stated_window))
        elif decision.reason is Reason.LONG_CONTEXT_TIER:
            self._lower(min(window, LONG_CONTEXT_WINDOW))
        trigger = _TRIGGERS.get(decision.reason, Trigger.CONTEXT_OVERFLOW)
        self._context.compact(trigger)

    def _lower(self, window: int) -> None:
        before = self._context.window
        if window >= before:
            return
        self._context.lower_window(window)
        self._world.recorder.moved(
            Moved(move=Move.WINDOW_LOWERED, before=str(before), after=str(window))
        )

    def _switch(self, decision: Decision) -> None:
        before = self.endpoints
        after = fail_over(before, self._world.now(), limited_for=limited_for(decision))
        if after is None:
            raise TurnStopped(self._end(decision))
        self.endpoints = after
        self._spent = replace(
            self._spent, attempts=0, failovers=self._spent.failovers + 1
        )
        self._world.recorder.moved(
            Moved(
                move=Move.FAILED_OVER,
                before=before.name,
                after=after.name,
                number=self._spent.failovers,
                limit=self._turn.retry.failovers,
            )
        )
        self._lower(self._endpoint.window)

    def _shrink_output(self, decision: Decision) -> None:
        """Lower max_tokens for this call; an output cap never compacts."""
        asked = self._max_tokens or self._context.window // 4
        stated = decision.stated_output
        lower = stated if stated and stated < asked else asked // 2
        self._max_tokens = max(SMALLEST_OUTPUT, lower)
        self._spent = replace(self._spent, shrunk=self._spent.shrunk + 1)

    def note_empty_reply(self, number: int) -> None:
        """Record a reply without words, and wait before the next try."""
        decision = Decision(reason=Reason.BROKEN_RESPONSE, retryable=True)
        self._spent = replace(self._spent, attempts=number)
        error = ModelError(kind=ErrorKind.GARBAGE, message="The reply was empty.")
        delay = self._delay(decision)
        self._record(decision, Action.RETRY, delay, error)
        self._world.sleep(delay)
