"""The OpenAI chat format as bytes: whole answers, stream chunks, usage."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.server.replies import Failure, Reply

CREATED = 1_764_500_000  # any fixed time will do


def text_to_send(reply: Reply, body: Mapping[str, Any]) -> str:
    """Return the text of a reply to this request."""
    messages = body.get("messages") or [{}]
    if reply.echo:
        content = messages[-1].get("content")
        return content if isinstance(content, str) else json.dumps(content)
    if reply.times_input:
        return json.dumps(messages, ensure_ascii=False) * reply.times_input
    return reply.text


def usage_of(reply: Reply, body: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the usage: as scripted, else one token per four characters."""
    if reply.usage is not None:
        return dict(reply.usage)
    prompt = len(json.dumps(body.get("messages", []), ensure_ascii=False)) // 4
    answer = len(text) // 4 + reply.reasoning_tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
        "completion_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
        "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
    }


def whole(reply: Reply, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer as one object."""
    text = text_to_send(reply, body)
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = list(reply.tool_calls)
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    return _envelope("chat.completion", reply, body) | {
        "choices": [choice],
        "usage": usage_of(reply, body, text),
    }


def chunks(reply: Reply, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the answer as stream chunks, the way providers send them."""
    frame = _envelope("chat.completion.chunk", reply, body)
    text = text_to_send(reply, body)
    for delta in _deltas(reply, text):
        yield frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    if reply.finish_reason is not None:
        done = {"index": 0, "delta": {}, "finish_reason": reply.finish_reason}
        yield frame | {"choices": [done]}
    if (body.get("stream_options") or {}).get("include_usage"):
        yield frame | {"choices": [], "usage": usage_of(reply, body, text)}


def _deltas(reply: Reply, text: str) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in pieces(reply.reasoning, reply.piece):
        yield {"reasoning_content": piece}
    for piece in pieces(text, reply.piece):
        yield {"content": piece}
    for index, call in enumerate(reply.tool_calls):
        yield from _call_deltas(index, call)


def _call_deltas(index: int, call: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    function = call["function"]
    start = {"name": function["name"], "arguments": ""}
    yield {"tool_calls": [{**call, "index": index, "function": start}]}
    for piece in pieces(function["arguments"], 8):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def pieces(text: str, size: int) -> Iterator[str]:
    """Split a text into pieces of this many characters."""
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _envelope(kind: str, reply: Reply, body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-scripted",
        "object": kind,
        "created": CREATED,
        "model": reply.model or body.get("model", ""),
    }


def failure_body(failure: Failure) -> bytes:
    """Return the body of an HTTP error."""
    if failure.body is not None:
        return failure.body.encode()
    error = {
        "message": failure.message,
        "type": failure.type,
        "code": failure.code,
    }
    return json.dumps({"error": error}).encode()
