"""Plays one case file: options to policy and situation, then the calls in a row."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compaction.engine.compactor import Compaction, compact, plan
from compaction.engine.llm import (
    ChatRequest,
    Completion,
    ErrorKind,
    ModelError,
    OnChunk,
)
from compaction.engine.messages import Kind, Message, from_dict, to_dict
from compaction.engine.phases.summary_text import is_wrapped
from compaction.engine.plan import Outcome, Plan, Situation
from compaction.engine.policy import CompactionPolicy
from compaction.engine.presets import DEFAULT
from compaction.engine.task_state import TaskState, write_todos
from compaction.engine.tokens import RoughCounter
from compaction.engine.triggers import Trigger

COUNTER = RoughCounter()
NAMES = {Outcome.SUMMARISED: "compacted"}


@dataclass
class CaseSummariser:
    """The case's summariser: fixed text, echo of the transcript, or an error."""

    script: Mapping[str, Any]
    name: str = "case"
    window: int = 200_000
    requests: list[ChatRequest] = field(default_factory=list)

    def complete(
        self, request: ChatRequest, *, on_chunk: OnChunk | None = None
    ) -> Completion:
        self.requests.append(request)
        if self.script["kind"] == "error":
            status = self.script.get("status")
            kind = ErrorKind.STATUS if status else ErrorKind.CONNECTION
            raise ModelError(kind=kind, message="scripted", status=status)
        return Completion(
            text=self._text(request),
            finish_reason=self.script.get("finish_reason", "stop"),
            reasoning=self.script.get("reasoning", ""),
        )

    def _text(self, request: ChatRequest) -> str:
        if self.script["kind"] == "echo":
            return str(request.messages[-1]["content"])
        return str(self.script.get("text") or "")

    @property
    def sent(self) -> str:
        """Everything the summariser was ever shown."""
        return "\n".join(str(m["content"]) for r in self.requests for m in r.messages)


@dataclass
class Played:
    """What a case did: the lists before and after, and every call's result."""

    before: tuple[Message, ...]
    after: tuple[Message, ...]
    policy: CompactionPolicy
    calls: list[Compaction]
    plans: list[Plan]
    summariser: CaseSummariser
    calls_per_step: list[int]
    raw_before: list[dict[str, Any]]
    raw_after_input: list[dict[str, Any]]
    task_state: TaskState
    options: Mapping[str, Any]

    @property
    def outcomes(self) -> list[str]:
        return [NAMES.get(c.outcome, c.outcome.value) for c in self.calls]


def variants(case: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The options of a case, once for every value of its sweep."""
    options = dict(case.get("options") or {})
    sweep = options.pop("sweep", None) or {}
    if not sweep:
        yield case["id"], options
    for name, values in sweep.items():
        for value in values:
            yield f"{case['id']}[{name}={value}]", {**options, name: value}


def policy_of(options: Mapping[str, Any]) -> CompactionPolicy:
    """The default policy with the numbers of a case."""
    return DEFAULT.evolve(
        context_length=200_000,
        threshold_ratio=1.0,
        threshold_cap=options["threshold_tokens"],
        tail_tokens=options["tail_token_budget"],
        protect_first=options["protect_first"],
        prune_min_chars=options["prune_min_chars"],
        min_shrink=options["min_shrink"],
    )


def read_messages(raw: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Read a list the way an importer does: summaries are told by their prefix."""
    messages = (from_dict(m) for m in raw)
    return tuple(
        m.evolve(kind=Kind.SUMMARY) if is_wrapped(m.text) else m for m in messages
    )


def task_state_of(options: Mapping[str, Any]) -> TaskState:
    raw = options.get("task_state") or {}
    state = TaskState(goal=raw.get("goal", ""))
    return write_todos(state, raw.get("todos", []))


def play(case: Mapping[str, Any], options: Mapping[str, Any]) -> Played:
    """Run the calls of a case and keep all that its checks look at."""
    raw = copy.deepcopy(case["messages"])
    before = read_messages(raw)
    state = task_state_of(options)
    summariser = CaseSummariser(options["summarizer"])
    played = Played(
        before=before,
        after=before,
        policy=policy_of(options),
        calls=[],
        plans=[],
        summariser=summariser,
        calls_per_step=[],
        raw_before=copy.deepcopy(case["messages"]),
        raw_after_input=raw,
        task_state=state,
        options=options,
    )
    situation = _situation(options)
    for step in range(int(options.get("calls") or 1)):
        if step:
            extra = options.get("append_between") or []
            played.after = (*played.after, *read_messages(extra))
        situation = _play_once(played, situation)
    return played


def _situation(options: Mapping[str, Any]) -> Situation:
    manual = options.get("mode") == "manual"
    previous = options.get("previous_summary") or ""
    return Situation(
        trigger=Trigger.MANUAL if manual else Trigger.PREFLIGHT,
        compactions=1 if previous else 0,
        previous_summary=previous,
    )


def _play_once(played: Played, situation: Situation) -> Situation:
    earlier = len(played.summariser.requests)
    args = (played.after, played.policy)
    played.plans.append(plan(*args, COUNTER, situation=situation))
    done = compact(*args, played.summariser, COUNTER, situation=situation)
    played.calls.append(done)
    played.calls_per_step.append(len(played.summariser.requests) - earlier)
    played.after = done.messages
    changed = done.outcome in (Outcome.SUMMARISED, Outcome.PRUNED)
    return replace(
        situation,
        compactions=situation.compactions + changed,
        previous_summary=done.summary.text if done.summary else "",
    )


def as_dicts(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [to_dict(message) for message in messages]
