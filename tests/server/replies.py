"""What the scripted server can answer: one frozen value per answer.

`Reply` is a whole chat answer, good or bad in its content; `Failure` an HTTP error;
`Broken` an answer that goes wrong on its way. All of them are data, so that the
standalone server can read them as JSON (`from_dict`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SUMMARY = """## Goal
Tidy the sample project.

## Constraints & Preferences
- Leave the public interface as it is.

## Progress
### Done
- Read `src/part_0.py`.
### In Progress
- Listing the unused functions.
### Blocked
- (nothing)

## Key Decisions
- Keep one module per noun.

## Relevant Files
- `src/part_0.py` - read

## Next Steps
1. Delete what nothing calls.

## Critical Context
- Port 8080, commit 3f2a9c1.

## Tools & Patterns
- `read_file` one file at a time.
"""
"""A summary that every check accepts."""

HTML = "<!DOCTYPE html>\n<html><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A chat answer, streamed or not as the request asks.

    `delay` is in seconds before each piece, `piece` in characters. `echo` answers
    with the text of the last message, `times_input` with text that many times as
    long as the whole request. `usage` None computes one token per four characters.
    """

    text: str = ""
    finish_reason: str | None = "stop"
    reasoning: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, Any] | None = None
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    delay: float = 0.0
    piece: int = 24
    echo: bool = False
    times_input: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An HTTP error; `body` wins over the JSON made of message, type and code."""

    status: int
    message: str = "the scripted server refuses"
    code: str | int | None = None
    type: str = "scripted_error"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    content_type: str = "application/json"
    unless_absent: str | None = None  # only while the request has this key


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """An answer that breaks on the way; see BROKEN_HOW for the ways."""

    how: str
    text: str = SUMMARY
    after: int = 2  # pieces that arrive before it breaks
    seconds: float = 30.0  # how long a stall or a drip lasts at most
    piece: int = 24


Answer = Reply | Failure | Broken

BROKEN_HOW = {
    "stall": "accepts the request and sends nothing",
    "stall_stream": "sends some pieces, then nothing, and keeps the line open",
    "drip": "keeps the line alive with comments, but no text ever comes",
    "drop": "drops the connection before any answer",
    "cut": "sends some pieces, then drops the connection",
    "cut_clean": "sends some pieces, then ends the stream as if all were well",
    "corrupt": "sends some pieces, then a chunk that is not JSON",
    "error_event": "sends some pieces, then an error inside the stream",
    "html": "answers 200 with an HTML page",
    "not_json": "answers 200 as JSON, but the body is not JSON",
    "no_choices": "answers 200 with JSON that holds no choices",
    "empty": "answers 200 with no body at all",
    "plain_json": "ignores stream=true and answers with one JSON object",
}


def failure(status: int, **values: Any) -> Failure:
    """Return an HTTP error; `retry_after` becomes its header."""
    headers = dict(values.pop("headers", {}))
    retry_after = values.pop("retry_after", None)
    if retry_after is not None:
        headers["Retry-After"] = str(retry_after)
    return Failure(status=status, headers=headers, **values)


def broken(how: str, **values: Any) -> Broken:
    """Return an answer that breaks in one of the ways of BROKEN_HOW."""
    if how not in BROKEN_HOW:
        raise ValueError(f"unknown way to break: {how}")
    return Broken(how=how, **values)


def tool_call(
    name: str, arguments: str = "{}", call_id: str = "call_1"
) -> dict[str, Any]:
    """Return one tool call in the OpenAI format."""
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


NAMED: Mapping[str, Answer] = {
    "ok": Reply(text=SUMMARY),
    "slow": Reply(text=SUMMARY, delay=0.2),
    "echo": Reply(echo=True),
    "blank": Reply(text="  \n "),
    "length": Reply(text=SUMMARY[:200], finish_reason="length"),
    "content_filter": Reply(text="", finish_reason="content_filter"),
    "no_finish": Reply(text=SUMMARY, finish_reason=None),
    "reasoning_only": Reply(reasoning="Let me think about it.", reasoning_tokens=400),
    "too_long": Reply(times_input=6),
    "tool_markup": Reply(
        text='<tool_call>\n{"name": "read_file", "arguments": {}}\n</tool_call>'
    ),
    "tool_calls": Reply(
        tool_calls=(tool_call("read_file", '{"path": "a.py"}'),),
        finish_reason="tool_calls",
    ),
    "400": failure(400, message="bad request", code="invalid_request_error"),
    "401": failure(401, message="Incorrect API key provided", code="invalid_api_key"),
    "402": failure(402, message="Insufficient credits", code="insufficient_credits"),
    "403": failure(403, message="Forbidden", code="forbidden"),
    "404": failure(404, message="The model does not exist", code="model_not_found"),
    "413": failure(413, message="Request entity too large"),
    "429": failure(
        429, message="Rate limit reached", code="rate_limit_exceeded", retry_after=7
    ),
    "500": failure(500, message="The server had an error"),
    "502_html": Failure(status=502, body=HTML, content_type="text/html"),
    "503": failure(503, message="Service unavailable"),
    "529": failure(529, message="Overloaded", type="overloaded_error"),
    "overflow": failure(
        400,
        message="This model's maximum context length is 8192 tokens.",
        code="context_length_exceeded",
    ),
    **{how: Broken(how=how) for how in BROKEN_HOW},
}
"""Answers by name, for command lines and parametrised tests."""


def from_dict(raw: Mapping[str, Any] | str) -> Answer:
    """Read an answer: a name of NAMED, or an object with `reply|failure|broken`."""
    if isinstance(raw, str):
        return NAMED[raw]
    if "failure" in raw:
        return failure(**raw["failure"])
    if "broken" in raw:
        return broken(**raw["broken"])
    values = dict(raw["reply"])
    values["tool_calls"] = tuple(values.get("tool_calls", ()))
    return Reply(**values)
