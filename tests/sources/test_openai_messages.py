"""OpenAI chat messages in all the wrappings they come in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compaction.engine.messages import Kind, Message, Role, to_dict
from compaction.engine.phases.summary_text import wrap_summary
from compaction.sources import SourceError, SourceLimits, detect
from tests.sources.files import (
    messages_of,
    read_all,
    read_one,
    roles_of,
    texts_of,
    write_json,
    write_lines,
)
from tests.sources.hermes_home import merged_text, summary_text

CALL = {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "look around"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "a", "content": "x y"},
    {"role": "assistant", "content": "seen"},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talk"


@pytest.mark.parametrize(
    "document",
    [
        TALK,
        {"messages": TALK, "model": "m"},
        {"request": {"messages": TALK, "model": "m"}},
        {"body": {"messages": TALK}, "custom_id": "r-1"},
    ],
    ids=["list", "messages", "request", "batch"],
)
def test_every_wrapping_gives_the_same_messages(path: Path, document: Any):
    conversation = read_one(write_json(path, document))
    assert detect(path) == "openai_messages"
    (session,) = conversation.sessions
    assert [to_dict(message) for message in messages_of(session)] == TALK
    assert conversation.title == "look around"


def test_a_file_with_one_message_per_line_is_one_conversation(path: Path):
    (session,) = read_one(write_lines(path, TALK)).sessions
    assert [to_dict(message) for message in messages_of(session)] == TALK


def test_a_pretty_printed_document_is_read_too(path: Path):
    path.write_text(json.dumps({"messages": TALK}, indent=2))
    assert len(read_one(path).sessions[0].messages) == 5


def test_the_answer_to_a_request_is_its_last_message(path: Path):
    response = {
        "choices": [{"message": TALK[4]}],
        "usage": {"prompt_tokens": 77},
        "model": "m-9",
    }
    document = {"messages": TALK[:4], "response": response, "context_window": 9_000}
    conversation = read_one(write_json(path, document))
    (session,) = conversation.sessions
    assert texts_of(session)[-1] == "seen"
    assert session.messages[-1].usage_tokens == 77
    assert session.usage_tokens == 77
    assert (conversation.model, conversation.window) == ("m-9", 9_000)


def test_a_log_of_requests_that_only_grow_is_one_conversation(path: Path):
    requests = [{"messages": TALK[:length], "model": "m"} for length in (2, 4, 5)]
    other = {"messages": [{"role": "user", "content": "something else"}]}
    first, second = read_all(write_lines(path, [*requests, other]))
    assert len(first.sessions[0].messages) == 5
    assert texts_of(second.sessions[0]) == ["something else"]


def test_cache_marks_that_move_do_not_split_a_conversation(path: Path):
    marked = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    plain = {"type": "text", "text": "hi"}
    more = {"role": "user", "content": "more"}
    requests = [
        {"messages": [{"role": "user", "content": [marked]}]},
        {"messages": [{"role": "user", "content": [plain]}, more]},
    ]
    assert len(read_all(write_lines(path, requests))) == 1


def test_the_same_beginning_twice_in_a_file_gets_two_ids(path: Path):
    one = [*TALK[:3], {"role": "tool", "tool_call_id": "a", "content": "1"}]
    two = [*TALK[:3], {"role": "tool", "tool_call_id": "a", "content": "2"}]
    found = read_all(write_lines(path, [{"messages": one}, {"messages": two}]))
    ids = [conversation.external_id for conversation in found]
    assert ids[1] == f"{ids[0]}-2"


def test_a_grown_file_keeps_its_id_and_messages(path: Path):
    before = read_one(write_json(path, TALK[:3]))
    after = read_one(write_json(path, TALK))
    assert after.external_id == before.external_id
    assert after.sessions[0].messages[:3] == before.sessions[0].messages


def test_two_runs_that_answer_differently_have_different_ids(path: Path):
    other = [*TALK[:2], {"role": "assistant", "content": "no"}]
    one = read_one(write_json(path, TALK)).external_id
    assert read_one(write_json(path, other)).external_id != one


def test_summaries_of_hermes_in_a_list_are_recognised(path: Path):
    talk = [
        {"role": "user", "content": summary_text("# old")},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": merged_text("mine", "# new")},
    ]
    (session,) = read_one(write_json(path, talk)).sessions
    first, _, last = messages_of(session)
    assert first.kind is Kind.SUMMARY
    assert (last.content, last.carried_summary) == ("mine", "# new")
    assert session.summary == "# new"


def test_summaries_of_our_own_exports_are_recognised(path: Path):
    parts = ({"type": "text", "text": "look"},)
    wrapped = wrap_summary("# ours")
    talk = [
        to_dict(Message(role=Role.USER, content=wrapped, kind=Kind.SUMMARY)),
        to_dict(Message(role=Role.USER, content="mine", carried_summary=wrapped)),
        to_dict(Message(role=Role.USER, content=parts, carried_summary=wrapped)),
    ]
    (session,) = read_one(write_json(path, talk)).sessions
    alone, carrier, parted = messages_of(session)
    assert alone.kind is Kind.SUMMARY
    assert (carrier.content, carrier.carried_summary) == ("mine", "# ours")
    assert (parted.content, parted.carried_summary) == (parts, "# ours")
    assert session.summary == "# ours"


def test_the_legacy_function_shape_is_read(path: Path):
    talk = [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "f", "arguments": "{}"},
        },
        {"role": "function", "name": "f", "content": "1"},
    ]
    (session,) = read_one(write_json(path, talk)).sessions
    assert roles_of(session) == ["user", "assistant", "function"]
    assert [to_dict(message) for message in messages_of(session)] == talk


def test_calls_in_the_shape_of_other_logs_are_read(path: Path):
    flat = {"id": "a", "function": "ls", "arguments": {"p": 1}}
    talk = [{"role": "assistant", "content": "", "tool_calls": [flat]}]
    (message,) = messages_of(read_one(write_json(path, talk)).sessions[0])
    call = message.tool_calls[0]
    assert (call.id, call.name, call.arguments) == ("a", "ls", '{"p": 1}')


def test_an_id_too_long_for_a_column_still_pairs(path: Path):
    long = "x" * 5_000
    talk = [
        {"role": "assistant", "content": None, "tool_calls": [CALL | {"id": long}]},
        {"role": "tool", "tool_call_id": long, "content": "r"},
    ]
    call, result = messages_of(read_one(write_json(path, talk)).sessions[0])
    assert call.call_ids == (result.tool_call_id,)
    assert len(result.tool_call_id or "") <= 200


def test_lone_surrogates_and_nul_are_kept_as_read(path: Path):
    path.write_bytes(b'[{"role": "user", "content": "a\\ud800b\\u0000c"}]')
    assert texts_of(read_one(path).sessions[0]) == ["a\ud800b\x00c"]


@pytest.mark.parametrize(
    ("talk", "detail"),
    [
        ([*TALK, {"role": "wizard", "content": "x"}], "message 6: unknown role"),
        ([*TALK, "text"], "message 6: a message must be an object"),
        ([*TALK, {"role": "user", "tool_calls": 5}], "message 6: tool_calls must be"),
        ([*TALK, {"role": "user", "tool_calls": [5]}], "message 6: a tool call must"),
    ],
)
def test_a_broken_message_is_named_by_its_place(path: Path, talk: Any, detail: str):
    with pytest.raises(SourceError) as caught:
        read_all(write_json(path, {"messages": talk}))
    assert caught.value.reason == "broken"
    assert detail in caught.value.detail


def test_a_broken_message_in_a_line_is_named_by_that_line(path: Path):
    with pytest.raises(SourceError) as caught:
        read_all(write_lines(path, [*TALK, {"role": "wizard", "content": "x"}]))
    assert caught.value.line == 6
    assert str(caught.value).startswith(f"{path}:6: ")


def test_more_messages_than_the_limit_are_refused(path: Path):
    with pytest.raises(SourceError) as caught:
        read_all(write_json(path, TALK), SourceLimits(messages=4))
    assert caught.value.reason == "too_large"


def test_marks_of_our_own_exports_are_read_back(path: Path):
    talk = [{"role": "user", "content": "s", "kind": "summary", "pinned": True}]
    (message,) = messages_of(read_one(write_json(path, talk)).sessions[0])
    assert (message.kind, message.pinned) == (Kind.SUMMARY, True)
    assert message.role is Role.USER
