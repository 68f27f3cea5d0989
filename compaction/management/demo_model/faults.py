"""What goes wrong on the way, each fault once in every task: the heart of the demo."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace

from compaction.engine.task_state import TodoStatus
from compaction.management.demo_model.answers import Answer, Refusal
from compaction.management.demo_model.reading import Asked, Wish
from compaction.management.demo_model.story import goal_of

WINDOW = 9_000
"""The model's context length in tokens; it is entered as more, and so overflows."""
RETRY_AFTER = 4
"""What it asks to wait after a 429, in seconds."""

CUT = "cut"
"""The stream breaks off in the middle."""

FAULTS: Mapping[int, Refusal | str] = {
    0: Refusal(
        status=429,
        message=f"Rate limit reached for requests. Please try again in {RETRY_AFTER}s.",
        code="rate_limit_exceeded",
        headers={"Retry-After": str(RETRY_AFTER)},
    ),
    1: CUT,
    2: Refusal(
        status=500,
        message="The server had an error while processing your request.",
        code="server_error",
    ),
    3: Refusal(
        status=401,
        message="Incorrect API key provided. The demo plays a key that was revoked.",
        code="invalid_api_key",
    ),
}
"""By how many todos are completed when it happens."""
FAULTY = "demo"
"""The model that has these faults; the other one has none of them."""


class FaultBook:
    """Remembers which faults a task has had; a task is known by its goal.

    Two conversations with the same goal at the same time share their faults.
    """

    def __init__(self) -> None:
        self._had: set[tuple[str, int]] = set()
        self._lock = threading.Lock()

    def play(self, asked: Asked, answer: Answer, tokens: int) -> Answer | Refusal:
        """Return what really comes: the answer that was due, or a fault.

        `tokens` is how long the request is.
        """
        if asked.wish is not Wish.STEP:
            return answer
        if tokens > WINDOW:
            return _overflow(tokens)
        if any(call.name == "task_set_goal" for call in answer.calls):
            self._forget(goal_of(asked))
            return answer
        if not answer.calls:
            return _half(answer)  # the report is too long, whoever writes it
        return self._once(asked, answer) if asked.model == FAULTY else answer

    def _once(self, asked: Asked, answer: Answer) -> Answer | Refusal:
        completed = sum(i.status is TodoStatus.COMPLETED for i in asked.items)
        fault = FAULTS.get(completed) if asked.items else None
        place = (asked.goal, completed)
        with self._lock:
            if fault is None or place in self._had:
                return answer
            self._had.add(place)
        return fault if isinstance(fault, Refusal) else replace(answer, cut_after=2)

    def _forget(self, goal: str) -> None:
        with self._lock:
            self._had = {place for place in self._had if place[0] != goal}


def _overflow(tokens: int) -> Refusal:
    return Refusal(
        status=400,
        message=(
            f"This model's maximum context length is {WINDOW} tokens. However, your "
            f"messages resulted in {tokens} tokens. Please reduce their length."
        ),
        code="context_length_exceeded",
    )


def _half(answer: Answer) -> Answer:
    """Cut an answer off at a space near its middle."""
    middle = answer.text.find(" ", len(answer.text) // 2)
    return replace(answer, text=answer.text[:middle], finish_reason="length")
