"""Real logs of other people's agents, against the same conversations as plain JSON.

The plain files were made by another program, so agreement is evidence.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from compaction.engine.messages import Kind, text_of
from compaction.sources import detect, summarise_file
from compaction.sources.values import Link
from tests.shared_data import HERMES_STATE, RAW_TRANSCRIPTS, TRANSCRIPTS, needs
from tests.sources.files import calls_of, messages_of, read_all, read_one

PAIRS = {
    "claude_code_vscode_fixture.jsonl": "12-claudecode-vscode-fixture.json",
    "claude_code_claudecode-zh-vue-binding.jsonl": "14-claudecode-zh-vue-binding.json",
    "claudecode-agentcmd-image.jsonl": "30-claudecode-agentcmd-image.json",
    "codex-rollout-medium.jsonl": "28-codex-rollout-medium.json",
    "pi_large_session.jsonl": "16-pi-large-session.json",
    "sweagent_sweagent-marshmallow-fncall.traj": "05-sweagent-marshmallow-fncall.json",
    "sweagent_sweagent-pydicom-gpt4-text.traj": "07-sweagent-pydicom-gpt4-text.json",
    "mini_swe_agent_minisweagent-django11910.traj.json": (
        "10-minisweagent-django11910.json"
    ),
    "tau_bench_record_02.json": "02-taubench-airline-task3-trial0.json",
    "openhands_record_20.json": "20-openhands-ponylang__ponyc-4593.json",
    "openai_messages_litellm_log.json": "22-openhands-sdk-llmlog.json",
}

# format, messages, calls, messages with reasoning, pictures: counted by hand
FIGURES = {
    "claude_code_vscode_fixture.jsonl": ("claude_code", 43, 25, 0, 0),
    "claude_code_claudecode-zh-vue-binding.jsonl": ("claude_code", 23, 10, 9, 0),
    "claudecode-agentcmd-image.jsonl": ("claude_code", 30, 10, 0, 1),
    "codex-rollout-medium.jsonl": ("codex", 171, 84, 84, 0),
    "pi_large_session.jsonl": ("pi", 914, 391, 1, 0),
    "sweagent_sweagent-marshmallow-fncall.traj": ("swe_agent", 28, 13, 0, 0),
    "sweagent_sweagent-pydicom-gpt4-text.traj": ("swe_agent", 26, 0, 0, 0),
    "mini_swe_agent_minisweagent-django11910.traj.json": (
        "mini_swe_agent",
        278,
        138,
        0,
        0,
    ),
    "tau_bench_record_02.json": ("tau_bench", 62, 20, 0, 0),
    "openhands_record_20.json": ("openhands", 68, 33, 0, 0),
    "openai_messages_litellm_log.json": ("openai_messages", 13, 6, 0, 0),
}

pytestmark = needs(RAW_TRANSCRIPTS)


@pytest.mark.parametrize("name", FIGURES)
def test_every_raw_log_has_the_figures_that_were_counted(name: str):
    expected, count, calls, reasoning, pictures = FIGURES[name]
    path = RAW_TRANSCRIPTS / name
    assert detect(path) == expected
    conversation = read_one(path)
    (session,) = conversation.sessions
    messages = messages_of(session)
    assert len(messages) == count
    assert len(calls_of(session)) == calls
    assert sum(bool(message.reasoning) for message in messages) == reasoning
    assert sum(message.image_count for message in messages) == pictures
    assert conversation.source == expected
    assert conversation.title
    facts = summarise_file(path)
    assert (facts.conversations, facts.messages) == (1, count)


@pytest.mark.parametrize("name", PAIRS)
def test_every_message_agrees_with_the_converted_conversation(name: str):
    converted = json.loads((TRANSCRIPTS / PAIRS[name]).read_text("utf-8"))
    (session,) = read_one(RAW_TRANSCRIPTS / name).sessions
    ours = [_facts_of_ours(message) for message in messages_of(session)]
    assert ours == [_facts_of_theirs(raw) for raw in converted["messages"]]


def _facts_of_ours(message: Any) -> tuple[Any, ...]:
    calls = [(c.id, c.name, _arguments(c.arguments)) for c in message.tool_calls]
    # the other program made text of pi's error notes, which no model ever said
    note = "" if calls else _said(message.extra.get("error"))
    said = _said(message.content) or note
    return message.role.value, said, calls, message.tool_call_id


def _facts_of_theirs(raw: dict[str, Any]) -> tuple[Any, ...]:
    calls = [
        (c["id"], c["function"]["name"], _arguments(c["function"]["arguments"]))
        for c in raw.get("tool_calls") or ()
    ]
    return raw["role"], _said(raw.get("content")), calls, raw.get("tool_call_id")


def _said(content: Any) -> str:
    return " ".join(text_of(content).split())


def _arguments(raw: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw


@pytest.mark.parametrize("name", ["hermes_session_export.json"])
def test_a_hermes_session_export_agrees_with_the_database(name: str):
    exported = read_one(RAW_TRANSCRIPTS / name)
    stored = read_all(RAW_TRANSCRIPTS / "hermes_state_sample.db")[0]
    assert exported.external_id == stored.external_id
    assert messages_of(exported.sessions[0]) == messages_of(stored.sessions[0])


def test_a_hermes_lineage_export_agrees_with_the_database():
    exported = read_one(RAW_TRANSCRIPTS / "hermes_lineage_export.json")
    stored = read_all(RAW_TRANSCRIPTS / "hermes_state_sample.db")[2]
    assert [s.link for s in exported.sessions] == [Link.ROOT, Link.COMPACTION]
    assert [messages_of(s) for s in exported.sessions] == [
        messages_of(s) for s in stored.sessions
    ]
    assert exported.sessions[1].summary == stored.sessions[1].summary


def test_hermes_trajectories_are_eight_conversations_with_thoughts_apart():
    conversations = read_all(RAW_TRANSCRIPTS / "hermes_trajectory_samples_dev.jsonl")
    assert len({c.external_id for c in conversations}) == 8
    for conversation in conversations:
        system, user, answer = messages_of(conversation.sessions[0])
        assert [system.role, user.role] == ["system", "user"]
        assert "<think>" not in answer.text
        assert answer.reasoning
    assert messages_of(conversations[0].sessions[0])[2].text == "Hello from HermesWith!"


@needs(HERMES_STATE)
def test_a_hermes_snapshot_holds_the_tools_and_the_continuation():
    conversation = read_one(HERMES_STATE / "session_20261130_210223_d991cd.json")
    (session,) = conversation.sessions
    assert len(session.messages) == 18
    assert len(session.tools) == 29
    kinds = [message.kind for message in messages_of(session)]
    assert kinds.count(Kind.SYNTHETIC) == 1
    assert conversation.external_id == "snapshot:20261130_210223_d991cd"


def test_the_window_and_the_last_prompt_size_come_from_the_log():
    codex = read_one(RAW_TRANSCRIPTS / "codex-rollout-medium.jsonl")
    assert (codex.window, codex.sessions[0].usage_tokens) == (272_000, 79_443)
    litellm = read_one(RAW_TRANSCRIPTS / "openai_messages_litellm_log.json")
    assert (litellm.window, litellm.sessions[0].usage_tokens) == (200_000, 6_729)
    assert len(litellm.sessions[0].tools) == 3
    pi = read_one(RAW_TRANSCRIPTS / "pi_large_session.jsonl")
    assert pi.sessions[0].usage_tokens == 177_604


@pytest.mark.parametrize("name", [*FIGURES, "hermes_lineage_export.json"])
def test_reading_twice_gives_equal_values(name: str):
    path = RAW_TRANSCRIPTS / name
    assert read_all(path) == read_all(path)


@pytest.mark.parametrize(
    "path", sorted(TRANSCRIPTS.glob("*.json")), ids=lambda p: p.stem
)
def test_every_converted_conversation_is_read_as_openai_messages(path: Any):
    expected = json.loads(path.read_text("utf-8"))
    conversation = read_one(path)
    assert conversation.source == "openai_messages"
    assert len(conversation.sessions[0].messages) == len(expected["messages"])
    assert conversation.model == (expected["model"] or "")
