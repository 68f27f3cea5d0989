"""The demo model: a request in, an answer or a fault out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compaction.engine.messages import text_of
from compaction.management.demo_model.answers import (
    Answer,
    Call,
    Refusal,
    Usage,
    written,
)
from compaction.management.demo_model.faults import FaultBook
from compaction.management.demo_model.reading import (
    Asked,
    Wish,
    prompt_text,
    read_request,
)
from compaction.management.demo_model.story import next_step
from compaction.management.demo_model.words import report, summarise

Count = Callable[[str], int]
"""A text to its tokens."""


class DemoModel:
    """Answers chat requests; it remembers nothing but the faults it has played."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._faults = FaultBook()

    def answer(self, body: Mapping[str, Any]) -> tuple[Answer | Refusal, Usage]:
        """Answer one request, and say what it costs in tokens."""
        asked = read_request(body)
        prompt = self._count(prompt_text(body))
        given = self._faults.play(asked, _ANSWERS[asked.wish](asked), prompt)
        text = written(given) if isinstance(given, Answer) else ""
        return given, Usage(prompt=prompt, completion=self._count(text))


def _talk(asked: Asked) -> Answer:
    if len(asked.user) < 200 and "OK" in asked.user:
        return Answer(text="OK")
    return Answer(text="I am the demo model. Give me a task that takes several steps.")


def _summarise(asked: Asked) -> Answer:
    users = [m for m in asked.messages if m.get("role") == "user"]
    return Answer(text=summarise("\n\n".join(text_of(m.get("content")) for m in users)))


def _remember(asked: Asked) -> Answer:
    """Write one memory, then be done."""
    if "memory_write" in asked.done or "memory_write" not in asked.tools:
        return Answer(text="done")
    paths = summarise(asked.user).count("\n- ")
    fact = f"Before a compaction: {paths} things were noted in the summary's lists."
    call = Call(id="call_memory", name="memory_write", arguments={"text": fact})
    return Answer(calls=(call,))


def _rest(asked: Asked) -> Answer:
    """Write the part of the report that was cut off."""
    full = report(asked.goal, [item.subject for item in asked.items])
    earlier = [m for m in asked.messages if m.get("role") == "assistant"]
    begun = text_of(earlier[-1].get("content")) if earlier else ""
    rest = full.removeprefix(begun) if full.startswith(begun) else full
    return Answer(text=rest.strip() or "That was all.")


_ANSWERS: Mapping[Wish, Callable[[Asked], Answer]] = {
    Wish.TALK: _talk,
    Wish.SUMMARY: _summarise,
    Wish.MEMORY: _remember,
    Wish.STEP: next_step,
    Wish.REST: _rest,
}
