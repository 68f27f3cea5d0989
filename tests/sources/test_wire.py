"""What any log holds can be sent to a provider, and nothing beside it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from compaction.engine.messages import Message, Role, from_dict
from compaction.engine.wire import REASONING, wire_of
from tests.shared_data import HERMES_STATE, RAW_TRANSCRIPTS, files_in, needs
from tests.sources.files import messages_of, read_all
from tests.sources.test_hostile import SEEDS, encode

ALLOWED = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls", REASONING},
    "tool": {"role", "content", "tool_call_id"},
    "function": {"role", "content", "name"},
}


def check(sent: Iterable[Mapping[str, Any]]) -> None:
    """Every rule that providers of the chat format hold requests to."""
    asked: set[str] = set()
    waiting: set[str] = set()
    for message in sent:
        assert set(message) <= ALLOWED[message["role"]]
        check_content(message)
        json.dumps(message)
        if message["role"] == "tool":
            assert message["tool_call_id"] in asked
            waiting.discard(message["tool_call_id"])
            continue
        assert waiting == set()
        asked = {check_call(call) for call in message.get("tool_calls", ())}
        waiting = set(asked)


def check_content(message: Mapping[str, Any]) -> None:
    content = message["content"]
    if isinstance(content, str):
        assert content or message.get("tool_calls") or message["role"] == "tool"
        return
    assert message["role"] == "user"
    for part in content:
        assert part["type"] in ("text", "image_url")
        assert set(part) == {"type", part["type"]}


def check_call(call: Mapping[str, Any]) -> str:
    assert set(call) == {"id", "type", "function"}
    assert set(call["function"]) == {"name", "arguments"}
    assert all(isinstance(value, str) for value in call["function"].values())
    return str(call["id"])


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed[0])
def test_every_format_can_be_sent(seed: tuple[str, Any], tmp_path: Path):
    path = tmp_path / "log"
    path.write_bytes(encode(*seed))
    for conversation in read_all(path):
        for session in conversation.sessions:
            check(wire_of(messages_of(session)))


@needs(RAW_TRANSCRIPTS)
@pytest.mark.parametrize(
    "path",
    [*files_in(RAW_TRANSCRIPTS), *files_in(HERMES_STATE, "*.db")],
    ids=lambda path: path.name,
)
def test_every_real_log_can_be_sent(path: Path):
    for conversation in read_all(path):
        for session in conversation.sessions:
            check(wire_of(messages_of(session)))


EXTRA = {
    "api_content": "what was really sent",
    "finish_reason": "stop",
    "is_error": True,
    "source_role": "human",
    "excluded": True,
    "observed": True,
    "error": {"type": "overloaded"},
    "broken_tool_calls": [{"id": 5}],
    "timestamp": 1.0,
    "reasoning_details": [{"type": "encrypted", "data": "x"}],
}


@given(
    st.lists(
        st.sampled_from(
            [
                {"role": "user", "content": "hi", **EXTRA},
                {"role": "user", "content": [{"type": "image_url", "image_url": "u"}]},
                {"role": "user", "content": [{"type": "image", "source": {}}]},
                {"role": "assistant", "content": None},
                {"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]},
                {
                    "role": "assistant",
                    "content": [{"type": "thinking", "thinking": "hm"}],
                    "tool_calls": [{"id": "b", "function": {"name": "f"}, "index": 1}],
                    **EXTRA,
                },
                {"role": "tool", "content": None, "tool_call_id": "a", **EXTRA},
                {"role": "tool", "content": [{"type": "x"}], "tool_call_id": "b"},
                {"role": "tool", "content": "orphan", "tool_call_id": "c"},
                {"role": "system", "content": "rules", "cache_control": {}},
            ]
        ),
        max_size=12,
    )
)
@settings(max_examples=200)
def test_whatever_stands_beside_a_message_is_not_sent(raw: list[dict[str, Any]]):
    check(wire_of([from_dict(message) for message in raw]))


def test_reasoning_stays_with_its_calls_for_the_adapter_alone():
    message = from_dict(
        {
            "role": "assistant",
            "content": "",
            "reasoning_content": "because",
            "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}],
        }
    )
    result = Message(role=Role.TOOL, content="r", tool_call_id="a")

    assert wire_of([message, result])[0][REASONING] == "because"
