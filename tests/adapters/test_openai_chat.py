"""A real client against a real server: answers, and every way they can fail."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from compaction.adapters.openai_chat import OpenAIChat
from compaction.engine.llm import ChatRequest, Completion, ErrorKind, ModelError, Usage
from tests.server.replies import (
    SUMMARY,
    Failure,
    Reply,
    broken,
    failure,
    tool_call,
)
from tests.server.scripted_openai import ScriptedOpenAI

API_KEY = "9f8e7d6c5b4a32100123"
Ask = Callable[..., Completion]


def request_of(text: str = "Summarise this.", **values: Any) -> ChatRequest:
    return ChatRequest(messages=({"role": "user", "content": text},), **values)


@pytest.fixture
def model(scripted_openai: ScriptedOpenAI) -> OpenAIChat:
    return OpenAIChat(
        base_url=scripted_openai.base_url, model="scripted-1", api_key=API_KEY
    )


@pytest.fixture
def impatient(scripted_openai: ScriptedOpenAI) -> OpenAIChat:
    """The same model with half a second for each answer."""
    return OpenAIChat(
        base_url=scripted_openai.base_url, model="scripted-1", timeout=0.5
    )


def fails(model: OpenAIChat, request: ChatRequest | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.complete(request or request_of())
    return caught.value


# answers


def test_an_answer_streams_in_and_arrives_whole(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    pieces: list[str] = []

    answer = model.complete(request_of(), on_chunk=pieces.append)

    assert answer.text == SUMMARY
    assert "".join(pieces) == SUMMARY
    assert len(pieces) > 10
    assert answer.finish_reason == "stop"
    assert answer.model == "scripted-1"
    assert answer.latency > 0
    assert not answer.embedded


def test_the_request_is_sent_as_it_is(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    model.complete(request_of("Hi", tools=(tool,), max_tokens=77))

    (request,) = scripted_openai.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {API_KEY}"
    assert request.body == {
        "model": "scripted-1",
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [tool],
        "max_tokens": 77,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_usage_comes_with_reasoning_and_cached_tokens(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    scripted_openai.play(
        Reply(text="x" * 40, reasoning_tokens=300, cached_tokens=5, reasoning="Hm.")
    )

    answer = model.complete(request_of())

    assert answer.usage is not None
    assert answer.usage.output_tokens == 310
    assert answer.usage.reasoning_tokens == 300
    assert answer.usage.cached_tokens == 5
    assert answer.reasoning == "Hm."


def test_odd_usage_counts_as_none(model: OpenAIChat, scripted_openai: ScriptedOpenAI):
    scripted_openai.play(
        Reply(text="x", usage={"prompt_tokens": "many", "completion_tokens": -4}),
        Reply(text="x", usage={"prompt_tokens": 3, "prompt_cache_hit_tokens": 2}),
    )

    assert model.complete(request_of()).usage is None
    assert model.complete(request_of()).usage == Usage(input_tokens=3, cached_tokens=2)


def test_tool_calls_are_put_together_from_their_pieces(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    calls = (
        tool_call("read_file", '{"path": "src/part_0.py"}', "call_1"),
        tool_call("bash", '{"command": "ls -la"}', "call_2"),
    )
    scripted_openai.play(Reply(tool_calls=calls, finish_reason="tool_calls"))

    answer = model.complete(request_of())

    assert answer.tool_calls == calls
    assert answer.finish_reason == "tool_calls"


@pytest.mark.parametrize("reason", ["length", "content_filter", "end_turn"])
def test_the_finish_reason_is_handed_on(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI, reason: str
):
    scripted_openai.play(Reply(text="part of it", finish_reason=reason))

    assert model.complete(request_of()).finish_reason == reason


def test_reasoning_alone_is_an_answer_without_text(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    scripted_openai.play("reasoning_only")

    answer = model.complete(request_of())

    assert (answer.text, answer.reasoning) == ("", "Let me think about it.")


def test_a_server_that_ignores_streaming_is_understood(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    scripted_openai.play(broken("plain_json", text="in one piece"))
    pieces: list[str] = []

    answer = model.complete(request_of(), on_chunk=pieces.append)

    assert answer.text == "in one piece"
    assert pieces == ["in one piece"]


@pytest.mark.parametrize(
    "text", ["\ud800 half a pair \udfff", "a\x00b", "<|endoftext|>", "‮ right to left"]
)
def test_any_text_can_be_sent(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI, text: str
):
    model.complete(request_of(text))

    sent = scripted_openai.requests[0].body["messages"][0]["content"]
    assert sent == text.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")


def test_the_environment_adds_nothing_to_a_request(
    scripted_openai: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-from-the-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-from-the-environment")

    OpenAIChat(base_url=scripted_openai.base_url, model="m").complete(request_of())

    headers = " ".join(scripted_openai.requests[0].headers.values())
    assert "from-the-environment" not in headers


# other ways of asking


def test_reasoning_is_sent_back_only_to_an_endpoint_that_asks_for_it(
    model, scripted_openai
):
    said = {"role": "assistant", "content": "", "reasoning_content": "because"}
    request = ChatRequest(messages=[said])
    model.complete(request)
    scripted_openai.play(
        failure(400, message="Missing `reasoning_content` field in message"), "ok"
    )
    model.complete(request)

    sent = [r.body["messages"][0] for r in scripted_openai.requests]
    assert ["reasoning_content" in message for message in sent] == [False, False, True]


@pytest.mark.parametrize(
    ("refusal", "refused", "wanted"),
    [
        ("Unknown parameter: 'stream_options'.", "stream_options", None),
        (
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "max_completion_tokens",
        ),
        ("This model does not support streaming (stream=true).", "stream", None),
    ],
)
def test_a_refused_parameter_is_left_out_and_never_sent_again(
    model: OpenAIChat,
    scripted_openai: ScriptedOpenAI,
    refusal: str,
    refused: str,
    wanted: str | None,
):
    def answer(body: Any) -> Any:
        refuses = refused in body
        return Failure(status=400, message=refusal) if refuses else Reply(text="fine")

    scripted_openai.always(answer)

    assert model.complete(request_of(max_tokens=9)).text == "fine"
    assert model.complete(request_of(max_tokens=9)).text == "fine"

    bodies = [request.body for request in scripted_openai.requests]
    assert [refused in body for body in bodies] == [True, False, False]
    assert wanted is None or bodies[-1][wanted] == 9


def test_a_bad_request_is_not_asked_twice(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    scripted_openai.always("400")

    assert fails(model).status == 400
    assert len(scripted_openai.requests) == 1


# refusals


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("401", 401, "invalid_api_key"),
        ("402", 402, "insufficient_credits"),
        ("403", 403, "forbidden"),
        ("404", 404, "model_not_found"),
        ("413", 413, "scripted_error"),
        ("429", 429, "rate_limit_exceeded"),
        ("500", 500, "scripted_error"),
        ("502_html", 502, None),
        ("503", 503, "scripted_error"),
        ("529", 529, "overloaded_error"),
        ("overflow", 400, "context_length_exceeded"),
    ],
)
def test_a_refusal_keeps_status_and_code_and_is_not_retried(
    model: OpenAIChat,
    scripted_openai: ScriptedOpenAI,
    name: str,
    status: int,
    code: str | None,
):
    scripted_openai.play(name)

    error = fails(model)

    assert (error.kind, error.status, error.code) == (ErrorKind.STATUS, status, code)
    assert len(scripted_openai.requests) == 1
    assert error.body


def test_the_message_of_a_refusal_is_the_providers(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    scripted_openai.play("overflow", "502_html")

    assert "maximum context length is 8192" in str(fails(model))
    assert str(fails(model)) == ("The provider answered 502 Bad Gateway (HTTP 502)")


@pytest.mark.parametrize(
    "body",
    [
        '{"error": "no credits left"}',
        '{"detail": "no credits left"}',
        '{"message": "no credits left", "code": 17}',
        '{"error": {"error": {"message": "no credits left"}}}',
        "no credits left",
    ],
)
def test_a_message_is_found_in_any_shape_of_body(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI, body: str
):
    scripted_openai.play(Failure(status=402, body=body))

    assert fails(model).message == "no credits left"


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"Retry-After": "1.5"}, 1.5, 1.5),
        ({"retry-after-ms": "2500"}, 2.5, 2.5),
        ({"Retry-After": "Mon, 01 Jan 2001 00:00:00 GMT"}, 0, 0),
    ],
    ids=["seconds", "fraction", "milliseconds", "past date"],
)
def test_retry_after_is_read_in_every_form(
    model: OpenAIChat,
    scripted_openai: ScriptedOpenAI,
    headers: dict[str, str],
    low: float,
    high: float,
):
    scripted_openai.play(Failure(status=429, headers=headers))

    error = fails(model)

    assert error.retry_after is not None
    assert low <= error.retry_after <= high


def test_retry_after_may_be_a_date(model: OpenAIChat, scripted_openai: ScriptedOpenAI):
    in_an_hour = format_datetime(datetime.now(UTC) + timedelta(hours=1))
    scripted_openai.play(Failure(status=429, headers={"Retry-After": in_an_hour}))

    error = fails(model)

    assert error.retry_after is not None
    assert 3_000 <= error.retry_after <= 3_600


@pytest.mark.parametrize("value", ["soon", "", "-5"])
def test_a_senseless_retry_after_does_no_harm(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI, value: str
):
    scripted_openai.play(Failure(status=429, headers={"Retry-After": value}))

    assert not fails(model).retry_after


def test_an_errors_body_is_clipped_and_holds_no_secret(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    body = f"key {API_KEY} refused, password=hunter2 " + "x" * 50_000
    scripted_openai.play(Failure(status=401, body=body, content_type="text/plain"))

    error = fails(model)

    assert len(error.body) <= 2_000
    assert API_KEY not in error.body + error.message
    assert "hunter2" not in error.body + error.message


def test_a_redirect_is_not_followed(model: OpenAIChat, scripted_openai: ScriptedOpenAI):
    elsewhere = {"Location": "http://127.0.0.1:9/v1/chat/completions"}
    scripted_openai.play(Failure(status=307, headers=elsewhere))

    error = fails(model)

    assert (error.kind, error.status) == (ErrorKind.STATUS, 307)


# broken answers


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("drop", ErrorKind.CONNECTION),
        ("cut", ErrorKind.CUT_STREAM),
        ("cut_clean", ErrorKind.CUT_STREAM),
        ("corrupt", ErrorKind.GARBAGE),
        ("html", ErrorKind.GARBAGE),
        ("not_json", ErrorKind.GARBAGE),
        ("no_choices", ErrorKind.GARBAGE),
        ("empty", ErrorKind.GARBAGE),
    ],
)
def test_a_broken_answer_is_told_by_its_kind(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI, how: str, kind: ErrorKind
):
    scripted_openai.play(broken(how))

    error = fails(model)

    assert error.kind is kind
    assert error.status is None


@pytest.mark.parametrize("how", ["cut", "cut_clean"])
def test_what_arrived_before_a_cut_is_kept_for_the_operator(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI, how: str
):
    scripted_openai.play(broken(how, text="the beginning of it " * 20, after=3))

    assert fails(model).body.startswith("the beginning of it")


def test_an_error_inside_a_stream_is_a_refusal(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    scripted_openai.play(broken("error_event"))

    error = fails(model)

    assert (error.kind, error.status) == (ErrorKind.STATUS, 502)
    assert "Upstream provider failed" in error.message


@pytest.mark.parametrize("how", ["stall", "stall_stream", "drip"])
def test_an_answer_that_never_ends_is_given_up(
    impatient: OpenAIChat, scripted_openai: ScriptedOpenAI, how: str
):
    """`drip` keeps the line alive, so only a limit over the whole answer ends it."""
    scripted_openai.play(broken(how, seconds=20))
    started = time.monotonic()

    error = fails(impatient)

    assert error.kind is ErrorKind.TIMEOUT
    assert time.monotonic() - started < 15


def test_an_error_that_drips_is_given_up_too(impatient: OpenAIChat):
    with SlowServer(b"HTTP/1.1 500 X\r\nContent-Length: 9999\r\n\r\n") as url:
        impatient.base_url = url

        assert fails(impatient).kind is ErrorKind.TIMEOUT


def test_the_requests_own_limit_wins_when_it_is_shorter(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    scripted_openai.play(broken("stall", seconds=20))

    assert fails(model, request_of(timeout=0.3)).kind is ErrorKind.TIMEOUT


def test_nobody_listening_is_a_connection_error():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    model = OpenAIChat(base_url=f"http://127.0.0.1:{port}/v1", model="m")

    assert fails(model).kind is ErrorKind.CONNECTION


@pytest.mark.parametrize(
    ("base_url", "name", "kind"),
    [
        ("", "m", ErrorKind.NO_PROVIDER),
        ("http://127.0.0.1:9/v1", " ", ErrorKind.NO_PROVIDER),
        ("http://127.0.0.1:port/v1", "m", ErrorKind.NO_PROVIDER),
        ("ftp://127.0.0.1/v1", "m", ErrorKind.CONNECTION),
    ],
)
def test_a_setting_that_cannot_work_is_an_error_of_ours(
    base_url: str, name: str, kind: ErrorKind
):
    assert fails(OpenAIChat(base_url=base_url, model=name)).kind is kind


@pytest.mark.parametrize("key", ["schlüssel-9f8e7d6c", "two\nlines-9f8e7d6c"])
def test_a_key_that_no_header_can_hold_is_not_shown(
    scripted_openai: ScriptedOpenAI, key: str
):
    model = OpenAIChat(base_url=scripted_openai.base_url, model="m", api_key=key)

    error = fails(model)

    assert "9f8e7d6c" not in f"{error} {error.body} {error.headers}"


def test_the_key_is_not_in_the_models_own_words():
    model = OpenAIChat(base_url="http://127.0.0.1:9/v1", model="m", api_key=API_KEY)

    assert API_KEY not in repr(model)


# what is not the model's fault


class Cancelled(Exception):
    pass


def test_what_the_reader_of_chunks_raises_passes_through(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    def cancel(text: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        model.complete(request_of(), on_chunk=cancel)

    assert model.complete(request_of()).text == SUMMARY


def test_threads_share_a_model(model: OpenAIChat, scripted_openai: ScriptedOpenAI):
    scripted_openai.always(Reply(echo=True))
    seen: dict[int, str] = {}

    def ask(number: int) -> None:
        seen[number] = model.complete(request_of(f"number {number}")).text

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == {n: f"number {n}" for n in range(8)}


class SlowServer:
    """Sends a head, then one byte of body after another."""

    def __init__(self, head: bytes) -> None:
        self._head = head
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> str:
        self._thread.start()
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        with connection:
            connection.recv(65_536)
            try:
                connection.sendall(self._head)
                while True:
                    connection.sendall(b".")
                    time.sleep(0.05)
            except OSError:
                return

    def __exit__(self, *exc: object) -> None:
        self._listener.close()
        self._thread.join(timeout=10)


def test_the_limits_a_provider_names_are_kept(
    model: OpenAIChat, scripted_openai: ScriptedOpenAI
):
    scripted_openai.play(failure(429, headers={"x-ratelimit-remaining-tokens": "0"}))

    assert fails(model).headers["x-ratelimit-remaining-tokens"] == "0"
