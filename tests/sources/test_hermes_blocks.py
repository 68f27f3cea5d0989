"""Boundaries between lists, over generated lives of a session."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings, strategies as st

from tests.sources.files import read_one
from tests.sources.hermes_home import (
    HermesHome,
    answers,
    asks,
    call,
    says,
    summary_text,
)


@st.composite
def _compactions(draw: Any) -> list[dict[str, Any]]:
    """How one session is lived: turns, then a compaction, and again."""
    lives = draw(st.integers(1, 5))
    return [
        {
            "turns": draw(st.integers(1, 3) if n == 0 else st.integers(0, 3)),
            "rewound": draw(st.booleans()),
            "restarted": draw(st.booleans()),
            "head": draw(st.integers(0, 3)),
            "tail": draw(st.integers(1, 4)),
            "role": draw(st.sampled_from(["user", "assistant"])),
        }
        for n in range(lives)
    ]


def _turn(number: int) -> list[dict[str, Any]]:
    return [
        asks(f"question {number}"),
        says(f"look {number}", call(f"c{number}")),
        answers(f"c{number}", f"result {number}"),
        says(f"answer {number}"),
    ]


@settings(max_examples=60)
@given(_compactions())
def test_every_list_that_was_ever_live_is_found_again(lives: list[dict[str, Any]]):
    with tempfile.TemporaryDirectory() as folder:
        home = HermesHome(Path(folder) / "state.db")
        session = home.session()
        expected: list[list[str]] = []
        held: list[dict[str, Any]] = []  # as the process holds it: without timestamps
        written = 0
        for number, life in enumerate(lives):
            for _ in range(life["turns"]):
                written += 1
                home.write(session, *_turn(written))
                held += [message | {"timestamp": None} for message in _turn(written)]
            if life["restarted"]:
                held = home.load(session)
            expected.append([str(message["content"]) for message in held])
            if life["rewound"]:
                home.rewind(*home.write(session, asks(f"taken back {number}")))
                expected[-1].append(f"taken back {number}")
            summary = {"role": life["role"], "content": summary_text(f"# {number}")}
            middle = max(life["head"], len(held) - life["tail"])
            held = [*held[: life["head"]], summary, *held[middle:]]
            home.compact_in_place(session, held)
        expected.append([str(message["content"]) for message in held])
        sessions = read_one(home.path).sessions
        found = [[m.message.text for m in s.messages] for s in sessions]
        home.db.close()
    assert found == expected
    assert [s.summary for s in sessions[1:]] == [f"# {n}" for n in range(len(lives))]
