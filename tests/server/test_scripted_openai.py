"""The scripted server speaks the wire format over real HTTP."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.server.replies import NAMED, Reply, failure, tool_call
from tests.server.scripted_openai import ScriptedOpenAI

STALLS = {"stall", "stall_stream", "drip"}
ROOT = Path(__file__).resolve().parents[2]
ASK = {"model": "scripted", "messages": [{"role": "user", "content": "Hello there"}]}


def post(base_url: str, body: dict[str, Any], path: str = "/chat/completions") -> str:
    request = urllib.request.Request(
        base_url + path,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return str(response.read().decode())


def test_answers_come_in_the_order_of_the_script(scripted_openai: ScriptedOpenAI):
    scripted_openai.play(Reply(text="one"), Reply(text="two")).then = Reply(text="rest")

    seen = [json.loads(post(scripted_openai.base_url, ASK)) for _ in range(4)]

    texts = [answer["choices"][0]["message"]["content"] for answer in seen]
    assert texts == ["one", "two", "rest", "rest"]


def test_requests_are_recorded_as_they_came(scripted_openai: ScriptedOpenAI):
    post(scripted_openai.base_url, ASK)

    (request,) = scripted_openai.requests
    assert request.path == "/v1/chat/completions"
    assert request.body == ASK


def test_a_stream_ends_with_usage_when_asked(scripted_openai: ScriptedOpenAI):
    scripted_openai.play(Reply(text="x" * 100, reasoning_tokens=9))

    raw = post(
        scripted_openai.base_url,
        ASK | {"stream": True, "stream_options": {"include_usage": True}},
    )

    lines = [line.removeprefix("data: ") for line in raw.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    text = "".join(
        choice["delta"].get("content", "") for c in chunks for choice in c["choices"]
    )
    assert text == "x" * 100
    assert chunks[-1]["usage"]["completion_tokens"] == 34
    assert chunks[-1]["usage"]["completion_tokens_details"] == {"reasoning_tokens": 9}


def test_tool_calls_arrive_in_pieces(scripted_openai: ScriptedOpenAI):
    call = tool_call("read_file", '{"path": "src/part_0.py"}')
    scripted_openai.play(Reply(tool_calls=(call,), finish_reason="tool_calls"))

    raw = post(scripted_openai.base_url, ASK | {"stream": True})

    chunks = [json.loads(line[6:]) for line in raw.split("\n\n") if "{" in line]
    calls = [
        piece
        for chunk in chunks
        for choice in chunk["choices"]
        for piece in choice["delta"].get("tool_calls", ())
    ]
    assert calls[0]["id"] == "call_1"
    arguments = "".join(piece["function"]["arguments"] for piece in calls)
    assert json.loads(arguments) == {"path": "src/part_0.py"}


def test_an_http_error_carries_its_headers(scripted_openai: ScriptedOpenAI):
    scripted_openai.play(failure(429, retry_after=7, code="rate_limit_exceeded"))

    with pytest.raises(urllib.error.HTTPError) as caught:
        post(scripted_openai.base_url, ASK)

    with caught.value as error:
        assert error.code == 429
        assert error.headers["Retry-After"] == "7"
        assert json.loads(error.read())["error"]["code"] == "rate_limit_exceeded"


def test_a_script_can_depend_on_the_request(scripted_openai: ScriptedOpenAI):
    scripted_openai.always(lambda body: Reply(text=body["messages"][0]["role"]))

    answer = json.loads(post(scripted_openai.base_url, ASK))

    assert answer["choices"][0]["message"]["content"] == "user"


def test_it_runs_as_a_process_and_takes_a_script_over_http():
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.server.scripted_openai", "--play", "blank"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        root = base_url.removesuffix("/v1")
        post(root, {"play": [{"reply": {"text": "queued"}}, "echo"]}, "/script")

        texts = [
            json.loads(post(base_url, ASK))["choices"][0]["message"]["content"]
            for _ in range(3)
        ]
        with urllib.request.urlopen(root + "/requests", timeout=10) as response:
            seen = json.loads(response.read())
    finally:
        process.terminate()
        process.communicate(timeout=10)
    assert texts == ["  \n ", "queued", "Hello there"]
    assert len(seen) == 3


@pytest.mark.parametrize("name", sorted(set(NAMED) - STALLS))
def test_after_any_answer_the_next_request_is_served(
    scripted_openai: ScriptedOpenAI, name: str
):
    scripted_openai.play(name, Reply(text="still here"))

    with contextlib.suppress(OSError, http.client.HTTPException):
        post(scripted_openai.base_url, ASK | {"stream": True})
    answer = json.loads(post(scripted_openai.base_url, ASK))

    assert answer["choices"][0]["message"]["content"] == "still here"
