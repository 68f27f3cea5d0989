"""Runs inside the peer's own environment: compacts facts, and says what was left.

Messages carry their place in the conversation under a key that Hermes passes on.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.quality.needles import plain, tells

Messages = list[dict[str, Any]]
PLACE = "bench_place"


def prompt(compressor: Any, file: str) -> dict[str, Any]:
    """Serialise what the summariser would be sent for the whole conversation."""
    told = _load(file)
    seen: list[str] = []

    def summarise(turns: Messages, **_: Any) -> str:
        seen.append(compressor._serialize_for_summary(turns))
        return "## Goal\nA fixed summary."

    compressor._generate_summary = summarise
    result = compressor.compress([m for turns in told["rounds"] for m in turns])
    return {"prompt": "\n".join(seen), "stayed": _stayed(result)}


def retain(
    compressor: Any, file: str, rounds: int, summariser: str
) -> list[dict[str, Any]]:
    """Compact after each round; `summariser` is `perfect` or `down`."""
    told = _load(file)
    budgets: list[int] = []

    def summarise(turns: Messages, **_: Any) -> str | None:
        budgets.append(compressor._compute_summary_budget(turns))
        if summariser == "down":
            return None
        seen = plain(compressor._serialize_for_summary(turns))
        seen += "\n" + (compressor._previous_summary or "")
        kept = [needle for needle in told["needles"] if tells(seen, needle)]
        lines = "\n".join(f"- {needle}" for needle in dict.fromkeys(kept))
        compressor._previous_summary = f"## Critical Context\n{lines}"
        return str(compressor._with_summary_prefix(compressor._previous_summary))

    compressor._generate_summary = summarise
    messages: Messages = []
    answers: list[dict[str, Any]] = []
    end = 0
    for turns in told["rounds"][:rounds]:
        end += len(turns)
        messages = compressor.compress(messages + turns)
        answers.append(
            {
                "end": end,
                "stayed": _stayed(messages),
                "summary": _summary(messages),
                "whole": "\n".join(map(json.dumps, messages)),
                "budget": budgets[-1] if budgets else 0,
            }
        )
    return answers


def _load(file: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(Path(file).read_text(encoding="utf-8"))
    place = 0
    for turns in told["rounds"]:
        for message in turns:
            message[PLACE] = place
            place += 1
    return told


def _stayed(messages: Messages) -> list[int]:
    return [m[PLACE] for m in messages if PLACE in m]


def _summary(messages: Messages) -> str:
    """Return the summary; it may stand in a message that it was merged into."""
    texts = [str(m.get("content")) for m in messages if PLACE not in m]
    merged = [m for m in messages if PLACE in m and m.get("_compressed_summary")]
    return "\n".join([*texts, *(str(m.get("content")) for m in merged)])
