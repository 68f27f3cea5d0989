"""Trajectories of SWE-agent, mini-swe-agent and tau-bench."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compaction.engine.messages import Kind
from compaction.sources import SourceError, detect
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
    return tmp_path / "trajectory"


# SWE-agent


def _swe(*history: dict[str, Any], **document: Any) -> dict[str, Any]:
    return {"trajectory": [], "history": list(history), "info": {}} | document


CALLS = (
    "[{'id': 'a', 'type': 'function', 'function': {'name': 'ls', 'arguments': '{}'}}]"
)


def test_calls_and_ids_written_as_python_are_read(path: Path):
    document = _swe(
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": CALLS, "thought": "hm"},
        {"role": "user", "content": "x", "tool_call_ids": "['a']"},
        info={"exit_status": "submitted"},
    )
    (session,) = read_one(write_json(path, document)).sessions
    assert detect(path) == "swe_agent"
    assert roles_of(session) == ["user", "assistant", "tool"]
    assert calls_of(session) == ["a"]
    assert messages_of(session)[2].tool_call_id == "a"
    assert messages_of(session)[1].reasoning == "hm"
    assert session.end_reason == "submitted"


def test_calls_that_are_json_already_are_read(path: Path):
    call = {"id": "a", "function": {"name": "ls", "arguments": "{}"}}
    document = _swe(
        {"role": "assistant", "content": "x", "tool_calls": [call]},
        {"role": "tool", "content": "y", "tool_call_ids": ["a"]},
    )
    assert calls_of(read_one(write_json(path, document)).sessions[0]) == ["a"]


@pytest.mark.parametrize(
    "hostile",
    [
        "__import__('os').system('true')",
        "[ToolCall(id='a')]",
        "[" * 100_000,
        "-" * 100_000 + "1",
        "(" * 300 + ")" * 300,
        "[" * 60 + "]" * 60,
        "{'a': " * 60 + "1" + "}" * 60,
        "'" + "x" * 2_000_000 + "'",
        "\x00",
        "1" * 10_000,
        "'\\N{",
    ],
    ids=lambda text: text[:12],
)
def test_python_text_that_is_no_small_literal_is_kept_and_never_run(
    path: Path, hostile: str
):
    document = _swe({"role": "assistant", "content": "x", "tool_calls": hostile})
    conversation = read_one(write_json(path, document))
    (message,) = messages_of(conversation.sessions[0])
    assert message.tool_calls == ()
    assert message.extra["broken_tool_calls"] == hostile
    assert conversation.notes == ("broken_tool_calls:1",)


def test_demonstrations_are_synthetic_and_the_task_is_the_title(path: Path):
    document = _swe(
        {"role": "user", "content": "watch me", "is_demo": True},
        {"role": "user", "content": "your turn"},
        replay_config={
            "problem_statement": {"id": "repo-1"},
            "agent": {"model": {"name": "gpt-x"}},
        },
    )
    conversation = read_one(write_json(path, document))
    kinds = [m.kind for m in messages_of(conversation.sessions[0])]
    assert kinds == [Kind.SYNTHETIC, Kind.PLAIN]
    assert (conversation.title, conversation.model) == ("repo-1", "gpt-x")


def test_a_broken_entry_is_named_by_its_place(path: Path):
    document = _swe({"role": "user", "content": "go"}, {"role": 5})
    with pytest.raises(SourceError, match="history entry 2: unknown role"):
        read_all(write_json(path, document))


# mini-swe-agent


def _mini(*messages: dict[str, Any]) -> dict[str, Any]:
    info = {"config": {"model": {"model_name": "d/chat"}}, "exit_status": "Submitted"}
    return {
        "trajectory_format": "mini-swe-agent-1.1",
        "messages": list(messages),
        "info": info,
        "instance_id": "django-1",
    }


def test_the_exit_is_synthetic_and_what_stands_beside_messages_is_not_sent(path: Path):
    usage = {"response": {"usage": {"prompt_tokens": 321}}, "timestamp": 1.77e9}
    document = _mini(
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "x", "function_call": None, "extra": usage},
        {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}},
    )
    conversation = read_one(write_json(path, document))
    (session,) = conversation.sessions
    assert detect(path) == "mini_swe_agent"
    assert roles_of(session) == ["user", "assistant", "user"]
    assert messages_of(session)[2].kind is Kind.SYNTHETIC
    assert messages_of(session)[1].extra == {}
    assert (session.usage_tokens, session.end_reason) == (321, "Submitted")
    assert (conversation.model, conversation.title) == ("d/chat", "django-1")


def test_an_older_trajectory_is_known_by_its_facts(path: Path):
    document = {
        "info": {"exit_status": "x", "submission": "", "model_stats": {}},
        "messages": [{"role": "user", "content": "go"}],
    }
    write_json(path, document)
    assert detect(path) == "mini_swe_agent"


# tau-bench


def _trial(number: int, *texts: str) -> dict[str, Any]:
    traj = [{"role": "user", "content": text} for text in texts]
    return {"task_id": 3, "trial": number, "reward": 1.0, "traj": traj}


def test_each_trial_is_a_conversation(path: Path):
    document = [_trial(0, "hi"), _trial(1, "hi")]
    first, second = read_all(write_json(path, document))
    assert detect(path) == "tau_bench"
    assert (first.title, second.title) == ("task 3, trial 0", "task 3, trial 1")
    assert first.external_id != second.external_id
    assert first.meta == {"reward": "1.0"}


def test_trials_may_stand_one_per_line(path: Path):
    found = read_all(write_lines(path, [_trial(n, f"hi {n}") for n in range(3)]))
    assert [texts_of(c.sessions[0]) for c in found] == [["hi 0"], ["hi 1"], ["hi 2"]]


def test_an_id_used_for_two_calls_stays_as_it_is(path: Path):
    call = {"id": "same", "function": {"name": "f", "arguments": "{}"}}
    pair = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "same", "content": "r"},
    ]
    record = _trial(0, "hi") | {"traj": [{"role": "user", "content": "hi"}, *pair * 2]}
    assert calls_of(read_one(write_json(path, [record])).sessions[0]) == ["same"] * 2


def test_a_broken_trial_spoils_the_file_and_is_named(path: Path):
    document = [_trial(0, "hi"), {"task_id": 1, "traj": []}]
    with pytest.raises(SourceError) as caught:
        read_all(write_json(path, document))
    assert caught.value.reason in ("unknown_format", "broken")
    document = [_trial(0, "a"), _trial(1, "b"), _trial(2, "c"), {"traj": [5]}]
    with pytest.raises(SourceError, match="record 4: message 1"):
        read_all(write_json(path, document))
