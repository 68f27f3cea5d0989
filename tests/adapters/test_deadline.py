"""A body ends when the time of the whole call is over, whatever the server does."""

from __future__ import annotations

import time

import httpx2
import pytest

from compaction.adapters import deadline as module
from compaction.adapters.deadline import Deadline, TooLarge, watch
from tests.server.replies import Reply, broken
from tests.server.scripted_openai import ScriptedOpenAI

ASK = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}


def read(server: ScriptedOpenAI, seconds: float) -> bytes:
    """Read an answer with a client that would wait for ever."""
    deadline = Deadline(ends=time.monotonic() + seconds)
    hooks = {"response": [watch(deadline)]}
    with httpx2.Client(timeout=None, event_hooks=hooks) as client:
        return client.post(f"{server.base_url}/chat/completions", json=ASK).content


def test_a_read_that_never_returns_is_ended(scripted_openai: ScriptedOpenAI):
    scripted_openai.play(broken("stall_stream", seconds=10_000))

    with pytest.raises(httpx2.ReadTimeout):
        read(scripted_openai, 0.3)


def test_a_body_that_drips_for_ever_is_ended(scripted_openai: ScriptedOpenAI):
    scripted_openai.play(broken("drip", seconds=10_000))

    with pytest.raises(httpx2.ReadTimeout):
        read(scripted_openai, 0.3)


def test_a_body_that_comes_in_time_is_whole(scripted_openai: ScriptedOpenAI):
    scripted_openai.play(Reply(text="in time"))

    assert b"[DONE]" in read(scripted_openai, 60)


def test_a_body_without_end_is_refused(
    scripted_openai: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MOST_BYTES", 1_000)
    scripted_openai.play(Reply(text="x" * 10_000))

    with pytest.raises(TooLarge):
        read(scripted_openai, 60)


def test_a_deadline_knows_what_is_left():
    deadline = Deadline(ends=10.0, clock=lambda: 7.5)

    assert (deadline.remaining, deadline.passed) == (2.5, False)
    assert Deadline(ends=10.0, clock=lambda: 11.0).passed
