"""OpenHands records: one answer in several events, condensations as generations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compaction.engine.messages import Kind
from compaction.sources import SourceError, SourceLimits, detect
from compaction.sources.values import Link
from tests.sources.files import (
    calls_of,
    messages_of,
    read_all,
    read_one,
    roles_of,
    texts_of,
    write_json,
    write_lines,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record"


def said(number: int, text: str, source: str = "user") -> dict[str, Any]:
    return {
        "id": number,
        "source": source,
        "action": "message",
        "args": {"content": text},
        "timestamp": "2026-01-02T03:04:05",
    }


def response(name: str, *call_ids: str) -> dict[str, Any]:
    calls = [
        {"id": i, "type": "function", "function": {"name": "run", "arguments": "{}"}}
        for i in call_ids
    ]
    message = {"role": "assistant", "content": f"text {name}", "tool_calls": calls}
    return {
        "id": name,
        "model": "m-1",
        "choices": [{"message": message}],
        "usage": {"prompt_tokens": 50},
    }


def ran(
    number: int, call_id: str, raw: dict[str, Any], **fields: Any
) -> dict[str, Any]:
    metadata = {"tool_call_id": call_id, "function_name": "run", "model_response": raw}
    return {
        "id": number,
        "source": "agent",
        "action": "run",
        "args": {"command": "ls"},
        "tool_call_metadata": metadata,
    } | fields


def saw(number: int, call_id: str, raw: dict[str, Any], text: str) -> dict[str, Any]:
    event = ran(number, call_id, raw, observation="run", content=text)
    del event["action"]
    return event


def condensed(number: int, **args: Any) -> dict[str, Any]:
    return {"id": number, "source": "agent", "action": "condensation", "args": args}


def _one(path: Path, *events: Any, **record: Any) -> Any:
    document = {"instance_id": "repo-1", "history": list(events)} | record
    return read_one(write_json(path, document))


def test_an_answer_repeated_in_every_event_is_one_message(path: Path):
    raw = response("r1", "a", "b")
    (session,) = _one(
        path,
        said(1, "go"),
        ran(2, "a", raw),
        ran(3, "b", raw),
        saw(4, "a", raw, "one"),
        saw(5, "b", raw, "two"),
    ).sessions
    assert detect(path) == "openhands"
    assert roles_of(session) == ["user", "assistant", "tool", "tool"]
    assert calls_of(session) == ["a", "b"]
    assert texts_of(session)[1:] == ["text r1", "one", "two"]
    assert session.usage_tokens == 50
    assert session.model == "m-1"


def test_the_system_event_brings_prompt_and_tools(path: Path):
    system = {
        "id": 0,
        "source": "agent",
        "action": "system",
        "args": {"content": "You are", "tools": [{"type": "function"}]},
    }
    (session,) = _one(path, system, said(1, "go")).sessions
    assert roles_of(session) == ["system", "user"]
    assert len(session.tools) == 1


def test_recall_and_state_changes_are_silent_and_errors_are_synthetic(path: Path):
    recall = {"id": 2, "source": "environment", "observation": "recall", "content": "x"}
    error = {"id": 3, "source": "agent", "observation": "error", "content": "bad call"}
    state = {"id": 4, "source": "environment", "action": "change_agent_state"}
    (session,) = _one(path, said(1, "go"), recall, error, state).sessions
    assert texts_of(session) == ["go", "bad call"]
    assert messages_of(session)[1].kind is Kind.SYNTHETIC


def test_a_condensation_opens_a_generation_with_its_summary(path: Path):
    conversation = _one(
        path,
        *(said(n, f"m{n}") for n in range(5)),
        condensed(
            5,
            forgotten_events_start_id=1,
            forgotten_events_end_id=3,
            summary="# so far",
            summary_offset=1,
        ),
        said(6, "m6"),
    )
    first, second = conversation.sessions
    assert texts_of(first) == ["m0", "m1", "m2", "m3", "m4"]
    assert texts_of(second) == ["m0", "# so far", "m4", "m6"]
    assert second.summary == "# so far"
    assert [m.origin for m in second.messages] == [0, None, 4, None]
    assert (first.end_reason, second.link) == ("compression", Link.IN_PLACE)
    assert messages_of(second)[1].kind is Kind.SUMMARY


def test_forgetting_named_events_without_a_summary_is_a_generation_too(path: Path):
    conversation = _one(
        path, said(1, "a"), said(2, "b"), condensed(3, forgotten_event_ids=[1])
    )
    assert [texts_of(s) for s in conversation.sessions] == [["a", "b"], ["b"]]
    assert conversation.sessions[1].summary == ""


def test_a_condensation_of_nothing_is_nothing(path: Path):
    conversation = _one(path, said(1, "a"), condensed(2, forgotten_event_ids=[]))
    assert len(conversation.sessions) == 1


def test_pairs_of_older_records_and_bare_event_lists_are_read(path: Path):
    pair = [said(1, "a"), {"id": 2, "source": "agent", "observation": "null"}]
    assert texts_of(_one(path, pair).sessions[0]) == ["a"]
    assert texts_of(read_one(write_json(path, [said(1, "b")])).sessions[0]) == ["b"]
    events = [said(1, "c"), said(2, "d")]
    assert texts_of(read_one(write_lines(path, events)).sessions[0]) == ["c", "d"]


def test_several_records_are_several_conversations(path: Path):
    records = [{"instance_id": f"r{n}", "history": [said(1, "x")]} for n in range(2)]
    first, second = read_all(write_lines(path, records))
    assert (first.title, second.title) == ("r0", "r1")


def test_an_answer_that_was_not_logged_is_rebuilt_from_its_action(path: Path):
    event = ran(2, "a", {}, args={"command": "ls", "thought": "I look"})
    _, answer = messages_of(_one(path, said(1, "go"), event).sessions[0])
    assert (answer.text, answer.call_ids) == ("I look", ("a",))
    assert answer.tool_calls[0].arguments == '{"command": "ls"}'


def test_no_key_of_the_configuration_is_taken_over(path: Path):
    metadata = {"llm_config": {"model": "m-2", "api_key": "sk-secret"}}
    conversation = _one(path, said(1, "go"), metadata=metadata)
    assert "sk-secret" not in repr(conversation)
    assert conversation.model == "m-2"


def test_a_broken_answer_is_named_by_its_event(path: Path):
    raw = response("r1", "a")
    raw["choices"][0]["message"]["tool_calls"] = "text"
    with pytest.raises(SourceError, match="event 2: tool_calls must be a list"):
        _one(path, said(1, "go"), ran(2, "a", raw))


def test_condensations_without_end_are_refused(path: Path):
    events = [said(n, "x") for n in range(50)]
    events += [condensed(100 + n, summary="s", summary_offset=0) for n in range(200)]
    with pytest.raises(SourceError) as caught:
        read_all(write_json(path, {"history": events}), SourceLimits(messages=2_000))
    assert caught.value.reason == "too_large"
