"""Runs inside the peer's own environment: answers one JSON line for each it is sent.

Every compressor is new and gets a copy of its input, neither of which is counted. The
one call to a model is replaced by what Hermes does just before it: the summary's
budget and the serialised, redacted turns. Seconds are of the CPU.
"""

from __future__ import annotations

import copy
import gc
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from agent.context_compressor import (  # type: ignore[import-not-found]
    ContextCompressor,
)
from agent.model_metadata import (  # type: ignore[import-not-found]
    estimate_messages_tokens_rough,
)
from agent.redact import redact_sensitive_text  # type: ignore[import-not-found]

sys.path.append(str(Path(__file__).resolve().parent.parent))

from bench.quality import peer_rounds

Messages = list[dict[str, Any]]


@cache
def load(file: str) -> Messages:
    """Read an input once."""
    messages: Messages = json.loads(Path(file).read_text(encoding="utf-8"))
    gc.collect()
    gc.freeze()
    return messages


def new_compressor(window: int) -> Any:
    """Make a compressor that reaches no model."""
    return ContextCompressor(
        "stub/model",
        config_context_length=window,
        quiet_mode=True,
        base_url="http://127.0.0.1:9/v1",
        api_key="none",
    )


def cpu_seconds(work: Callable[[], object]) -> float:
    """Run once and return the CPU seconds that it took."""
    gc.collect()
    started = time.process_time()
    work()
    return time.process_time() - started


def estimate_session(file: str, turns: int) -> float:
    """Estimate the whole list anew at each of so many turns, as Hermes does."""
    messages = load(file)
    grown: Messages = []

    def ask() -> None:
        for message in messages[:turns]:
            grown.append(message)
            estimate_messages_tokens_rough(grown)

    return cpu_seconds(ask)


def find_boundaries(file: str, window: int, times: int) -> float:
    """Do what compress() does between pruning and the summary, seconds for one time.

    Where the head ends, where the tail begins, and where the running summary is.
    """
    messages = load(file)
    compressor = new_compressor(window)

    def walk() -> None:
        for _ in range(times):
            start = compressor._align_boundary_forward(
                messages, compressor._protect_head_size(messages)
            )
            end = compressor._find_tail_cut_by_tokens(messages, start)
            compressor._find_latest_context_summary(messages, 1, end)

    return cpu_seconds(walk) / times


def compress(file: str, window: int, prompt_chars: int) -> float:
    """Do a whole pass; of the turns, only so many characters are serialised."""
    compressor = new_compressor(window)
    turns_within = _count_turns(file, window, prompt_chars)

    def summarise(turns: Messages, **_: Any) -> str:
        compressor._compute_summary_budget(turns)
        compressor._serialize_for_summary(turns[:turns_within])
        return "## Goal\nA fixed summary."

    compressor._generate_summary = summarise
    messages = copy.deepcopy(load(file))
    return cpu_seconds(lambda: compressor.compress(messages))


@cache
def _count_turns(file: str, window: int, chars: int) -> int:
    """How many of the oldest turns fill a prompt of so many characters."""
    compressor = new_compressor(window)
    seen: list[Messages] = []

    def summarise(turns: Messages, **_: Any) -> str:
        seen.append(turns)
        return "## Goal\nA fixed summary."

    compressor._generate_summary = summarise
    compressor.compress(copy.deepcopy(load(file)))
    used = 0
    for number, turn in enumerate(seen[0]):
        used += len(compressor._serialize_for_summary([turn])) + 2
        if used > chars:
            return number + 1
    return len(seen[0])


def retain(file: str, window: int, rounds: int, summariser: str) -> Any:
    """Compact planted facts after each round, and say what was left."""
    return peer_rounds.retain(new_compressor(window), file, rounds, summariser)


def prompt(file: str, window: int) -> Any:
    """Write what the summariser would be sent for a conversation with facts."""
    return peer_rounds.prompt(new_compressor(window), file)


def redact(texts: list[str]) -> list[str]:
    """Redact texts, each as the peer does before it sends one to its summariser."""
    return [redact_sensitive_text(text) for text in texts]


TASKS: dict[str, Callable[..., Any]] = {
    "estimate_session": estimate_session,
    "find_boundaries": find_boundaries,
    "compress": compress,
    "retain": retain,
    "prompt": prompt,
    "redact": redact,
}


def main() -> None:
    """Answer until the input ends; what Hermes prints goes to standard error."""
    logging.disable(logging.CRITICAL)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        wanted = json.loads(line)
        try:
            told: dict[str, Any] = {"answer": TASKS[wanted.pop("task")](**wanted)}
        except Exception as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(told), file=answers, flush=True)


if __name__ == "__main__":
    main()
