"""Turns in a process of its own, on a new database.

    python -m bench.turn_worker loop FOLDER SMALL LARGE ITERATIONS
    python -m bench.turn_worker whole FOLDER BASE_URL RUNS

Prints JSON: the two figures, and a note.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from bench.console import open_console
from bench.inputs import Shape, make_messages
from bench.measuring import side_by_side, wall_seconds
from bench.rows import Measured
from compaction.engine.llm import Completion, Usage
from compaction.engine.messages import Message, from_dict

if TYPE_CHECKING:
    from compaction.models import Conversation

_WINDOW = 2_000_000  # tokens: no run is due
_CALL = {"id": "c", "function": {"name": "memory_read", "arguments": "{}"}}
_keys = count(1)


class InstantModel:
    """Answers at once: a tool call each time, words at last; notes when it was asked.

    The time of a turn is that between two questions, so that reading the conversation
    before the first and what follows the last do not count.
    """

    name = "instant"
    window = _WINDOW

    def __init__(self, iterations: int) -> None:
        self._iterations = iterations
        self.asked: list[float] = []

    def complete(self, *_: object, **__: object) -> Completion:
        """Ask for a tool, or end."""
        self.asked.append(time.process_time())
        usage = Usage(input_tokens=1_000, output_tokens=10)
        if len(self.asked) > self._iterations:
            return Completion(text="Done.", finish_reason="stop", usage=usage)
        return Completion(tool_calls=(_CALL,), finish_reason="tool_calls", usage=usage)

    @property
    def seconds(self) -> float:
        """Seconds of this process for one iteration."""
        return (self.asked[-1] - self.asked[0]) / (len(self.asked) - 1)


def measure_loop(small: int, large: int, iterations: int) -> Measured:
    """One iteration of a turn in a long conversation, against one in a short one."""
    from compaction import wiring

    talks = {size: _talk(size) for size in (small, large)}

    def take(size: int) -> float:
        model = InstantModel(iterations)
        wiring.build_chat = lambda _: model  # type: ignore[assignment]
        _play(talks[size])
        return model.seconds

    _enter_endpoint("http://127.0.0.1:9/v1")
    return side_by_side(lambda: take(large), lambda: take(small), runs=5)


def measure_whole(base_url: str, runs: int) -> Measured:
    """A turn from the press to its end, against asking the same server directly."""
    import openai

    from compaction.models import Session

    _enter_endpoint(base_url)
    conversation = _talk(4)
    prompt = Session.objects.get(pk=conversation.tip_id).system_prompt

    def ask_directly() -> None:
        client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
        with client:
            answer = client.chat.completions.create(
                model="bench",
                messages=[
                    {"role": "system", "content": prompt},
                    {"role": "user", "content": "Go on."},
                ],
                stream=True,
            )
            for _ in answer:
                pass

    return side_by_side(
        lambda: wall_seconds(lambda: _play(conversation)),
        lambda: wall_seconds(ask_directly),
        runs=runs,
        warm_ups=2,
    )


def _enter_endpoint(base_url: str) -> None:
    from compaction.models import Endpoint

    Endpoint.objects.create(
        name="bench",
        base_url=base_url,
        model="bench",
        window=_WINDOW,
        allow_private=True,
    )


def _talk(messages: int) -> Conversation:
    from compaction.engine.tokens import RoughCounter
    from compaction.models import Conversation
    from compaction.services.conversation_starts import (
        NewConversation,
        new_conversation,
    )
    from compaction.store import NewMessage, write_messages

    conversation = new_conversation(NewConversation(window=_WINDOW, model="gpt-5"))
    made: list[Message] = [
        from_dict(raw) for raw in make_messages(Shape(messages=messages, chars=200))
    ]
    new = [NewMessage(message=message) for message in made if not message.is_system]
    assert conversation.tip is not None
    write_messages(conversation.tip, new, counter=RoughCounter())
    return Conversation.objects.get(pk=conversation.pk)


def _play(conversation: Conversation) -> None:
    from compaction.services.turns.starting import TurnRequest, queue_turn
    from compaction.services.turns.work import perform_turn

    request = TurnRequest(text="Go on.", key=f"bench-{next(_keys)}")
    turn = queue_turn(conversation, request)
    perform_turn(turn.pk)
    turn.refresh_from_db()
    if turn.end != "completed":
        raise RuntimeError(f"the turn ended with {turn.end}: {turn.error}")


def main(arguments: list[str]) -> None:
    """Measure what the arguments name."""
    what, folder, *rest = arguments
    open_console(Path(folder))
    logging.disable(logging.INFO)
    measures: dict[str, Callable[[], Measured]] = {
        "loop": lambda: measure_loop(*map(int, rest)),
        "whole": lambda: measure_whole(rest[0], int(rest[1])),
    }
    print(json.dumps(asdict(measures[what]())))


if __name__ == "__main__":
    main(sys.argv[1:])
