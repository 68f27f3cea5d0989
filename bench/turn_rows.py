"""Rows of the agent's turns: what the loop costs beside its model."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.chat_server import PIECES
from bench.rows import Measured, Row
from bench.workshop import Workshop

_PROJECT = Path(__file__).resolve().parent.parent


def turn_loop(workshop: Workshop) -> Measured:
    """An iteration of a turn in a long conversation: everything but the model."""
    sizes = workshop.sizes.shapes
    small, large = sizes["S"].messages // 10, sizes["M"].messages
    iterations = 3 if workshop.is_quick else 30
    return _measure(workshop, "loop", str(small), str(large), str(iterations))


def turn_whole(workshop: Workshop) -> Measured:
    """A whole turn over HTTP, stored and streamed, against a bare call."""
    server = subprocess.Popen(
        [sys.executable, "-m", "bench.chat_server"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=_PROJECT,
    )
    try:
        assert server.stdout is not None
        base_url = server.stdout.readline().strip()
        runs = 1 if workshop.is_quick else 15
        return _measure(workshop, "whole", base_url, str(runs))
    finally:
        server.kill()
        server.communicate()


def _measure(workshop: Workshop, what: str, *arguments: str) -> Measured:
    with tempfile.TemporaryDirectory(dir=workshop.folder) as folder:
        command = [sys.executable, "-m", "bench.turn_worker", what, folder, *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=_PROJECT
        )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


ROWS = (
    Row(
        name="turn_loop",
        target="2",
        measure=turn_loop,
        against="the same in a conversation of 100 messages",
    ),
    Row(
        name="turn_whole",
        target="2",
        measure=turn_whole,
        against=f"a bare openai call for the same answer of {PIECES:,} pieces",
    ),
)
