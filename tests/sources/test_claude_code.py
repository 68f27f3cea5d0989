"""Claude Code's log: split messages, compactions, sub-agents, rewinds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from compaction.engine.messages import Kind
from compaction.sources import SourceError, SourceLimits
from compaction.sources.values import Link
from tests.sources.files import (
    calls_of,
    messages_of,
    read_all,
    read_one,
    roles_of,
    texts_of,
    write_lines,
)

SESSION = "11111111-2222-4333-8444-555555555555"
SUMMARY = (
    "This session is being continued from a previous conversation that ran out of"
    " context. The conversation is summarized below:\nAnalysis: all good."
)


class Log:
    """Records with uuids that hang on the one before, unless told otherwise."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.last: str | None = None

    def add(self, kind: str, content: Any, **fields: Any) -> str:
        uuid = f"u{len(self.records) + 1}"
        message = {"role": kind, "content": content} | fields.pop("message", {})
        self.records.append(
            {
                "type": kind,
                "uuid": uuid,
                "parentUuid": fields.pop("parent", self.last),
                "sessionId": SESSION,
                "isSidechain": False,
                "timestamp": f"2026-01-02T03:04:{len(self.records) % 60:02}.000Z",
                "message": message,
            }
            | fields
        )
        self.last = uuid
        return uuid

    def user(self, content: Any, **fields: Any) -> str:
        return self.add("user", content, **fields)

    def answer(self, block: dict[str, Any], message_id: str, **fields: Any) -> str:
        message = {"id": message_id, "model": "claude-x"} | fields.pop("message", {})
        return self.add("assistant", [block], message=message, **fields)

    def system(self, subtype: str, **fields: Any) -> str:
        uuid = self.add("system", None, subtype=subtype, **fields)
        del self.records[-1]["message"]
        return uuid


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(call_id: str, name: str = "Read", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Any = "ok", **fields: Any) -> list[dict[str, Any]]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return [block | fields]


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "any-name.txt"


def _one(log: Log, path: Path) -> Any:
    return read_one(write_lines(path, log.records))


def test_lines_with_one_message_id_are_one_message(log: Log, path: Path):
    log.user("look")
    log.answer({"type": "thinking", "thinking": "hm", "signature": "s"}, "m1")
    log.answer(text("I look."), "m1")
    log.answer(use("a", file="x"), "m1")
    log.answer(use("b", file="y"), "m1")
    (session,) = _one(log, path).sessions
    assert roles_of(session) == ["user", "assistant"]
    answer = messages_of(session)[1]
    assert answer.text == "I look."
    assert answer.call_ids == ("a", "b")
    assert answer.reasoning == "hm"
    assert answer.extra["reasoning_details"] == [{"type": "thinking", "signature": "s"}]


def test_a_result_logged_before_the_next_call_comes_after_the_whole_message(
    log: Log, path: Path
):
    log.user("look")
    first = log.answer(use("a"), "m1")
    log.user(result("a"), parent=first)
    log.answer(use("b"), "m1", parent=first)
    log.user(result("b"))
    (session,) = _one(log, path).sessions
    assert roles_of(session) == ["user", "assistant", "tool", "tool"]
    assert calls_of(session) == ["a", "b"]
    assert [m.tool_call_id for m in messages_of(session)[2:]] == ["a", "b"]


def test_text_of_a_skill_between_call_and_result_stays_there_as_synthetic(
    log: Log, path: Path
):
    log.user("use the skill")
    log.answer(use("a", "Skill"), "m1")
    log.user([text("Base directory for this skill: /s")], isMeta=True)
    log.user(result("a", "Launching skill"))
    (session,) = _one(log, path).sessions
    assert roles_of(session) == ["user", "assistant", "user", "tool"]
    assert messages_of(session)[2].kind is Kind.SYNTHETIC


def test_results_know_the_name_of_their_tool_and_whether_they_failed(
    log: Log, path: Path
):
    log.answer(use("a", "Bash"), "m1")
    log.user(result("a", [text("no such file")], is_error=True))
    (_, answer) = messages_of(_one(log, path).sessions[0])
    assert (answer.text, answer.extra) == (
        "no such file",
        {"name": "Bash", "is_error": True},
    )


def test_pictures_become_openai_parts(log: Log, path: Path):
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/jpeg", "data": "QUJD"},
    }
    log.user([text("what is this"), picture])
    (message,) = messages_of(_one(log, path).sessions[0])
    assert message.image_count == 1
    assert message.content[1] == {
        "type": "image_url",
        "image_url": {"url": "data:image/jpeg;base64,QUJD"},
    }


def test_a_compaction_opens_a_generation_with_its_summary(log: Log, path: Path):
    log.user("do it")
    log.answer(text("done"), "m1")
    log.system("compact_boundary", parent=None, compactMetadata={"trigger": "auto"})
    log.user(SUMMARY, isCompactSummary=True, isVisibleInTranscriptOnly=True)
    log.user("next")
    conversation = _one(log, path)
    first, second = conversation.sessions
    assert [first.end_reason, second.end_reason] == ["compression", ""]
    assert (second.link, second.parent) == (Link.IN_PLACE, 0)
    assert [s.external_id for s in conversation.sessions] == [SESSION, f"{SESSION}@2"]
    assert second.summary == "Analysis: all good."
    assert [m.kind for m in messages_of(second)] == [Kind.SUMMARY, Kind.PLAIN]


def test_a_summary_without_boundary_opens_a_generation_too(log: Log, path: Path):
    log.user("do it")
    log.user(SUMMARY, isCompactSummary=True, parent=None)
    log.user("next")
    assert [len(s.messages) for s in _one(log, path).sessions] == [1, 2]


def test_a_file_that_begins_with_a_summary_has_one_generation(log: Log, path: Path):
    log.user(SUMMARY, isCompactSummary=True)
    log.user("next")
    (session,) = _one(log, path).sessions
    assert session.summary == "Analysis: all good."


@pytest.mark.parametrize("kind", ["segment", "uuids"])
def test_messages_that_a_compaction_kept_are_copies_behind_the_summary(
    log: Log, path: Path, kind: str
):
    log.user("old")
    log.answer(text("older answer"), "m1")
    head = log.user("kept question")
    tail = log.answer(text("kept answer"), "m2")
    metadata = {
        "segment": {"preservedSegment": {"headUuid": head, "tailUuid": tail}},
        "uuids": {"preservedMessages": {"uuids": [head, tail]}},
    }
    log.system("compact_boundary", parent=None, compactMetadata=metadata[kind])
    log.user(SUMMARY, isCompactSummary=True)
    log.user("next")
    second = _one(log, path).sessions[1]
    assert texts_of(second)[1:] == ["kept question", "kept answer", "next"]
    assert [m.origin for m in second.messages] == [None, 2, 3, None]


def test_a_microcompaction_is_noted_and_opens_nothing(log: Log, path: Path):
    log.user("do it")
    log.system("microcompact_boundary")
    conversation = _one(log, path)
    assert len(conversation.sessions) == 1
    assert conversation.notes == ("microcompactions:1",)


def test_a_rewound_prompt_and_all_behind_it_are_inactive(log: Log, path: Path):
    log.user("start")
    fork = log.answer(text("ready"), "m1")
    log.user("wrong way")
    log.answer(text("wrong answer"), "m2")
    log.user("right way", parent=fork)
    log.answer(text("right answer"), "m3")
    conversation = _one(log, path)
    (session,) = conversation.sessions
    inactive = [m.message.text for m in session.messages if m.inactive]
    assert inactive == ["wrong way", "wrong answer"]
    assert conversation.notes == ("rewound_records:2",)


def test_a_branch_that_goes_on_beside_another_prompt_is_alive(log: Log, path: Path):
    fork = log.user("start")
    first = log.user("one", parent=fork)
    log.user("typed while it worked", parent=fork)
    log.answer(text("answer to one"), "m1", parent=first)
    assert not any(m.inactive for m in _one(log, path).sessions[0].messages)


def test_results_of_parallel_calls_are_no_fork(log: Log, path: Path):
    log.user("look")
    first = log.answer(use("a"), "m1")
    second = log.answer(use("b"), "m1")
    log.user(result("a"), parent=first)
    log.user(result("b"), parent=second)
    log.answer(text("seen"), "m2")
    assert not any(m.inactive for m in _one(log, path).sessions[0].messages)


def test_a_sub_agent_is_a_conversation_of_its_own(log: Log, path: Path):
    start = log.user("ask a helper")
    call = log.answer(use("t", "Task"), "m1")
    log.user("helper, look", isSidechain=True, parent=None)
    log.answer(text("helper says"), "m2", isSidechain=True)
    log.user(result("t", "helper says"), parent=call)
    main, helper = read_all(write_lines(path, log.records))
    assert start == "u1"
    assert len(main.sessions[0].messages) == 3
    assert texts_of(helper.sessions[0]) == ["helper, look", "helper says"]
    assert helper.sessions[0].link is Link.BRANCH
    assert helper.meta["branch_of"] == SESSION
    assert helper.external_id == f"{SESSION}/u3"


def test_sub_agents_that_ran_at_once_are_kept_apart_by_their_id(log: Log, path: Path):
    log.user("go")
    for number in range(4):
        agent = f"agent{number % 2}"
        log.user(f"step {number}", isSidechain=True, agentId=agent, parent=None)
    _, one, two = read_all(write_lines(path, log.records))
    assert texts_of(one.sessions[0]) == ["step 0", "step 2"]
    assert texts_of(two.sessions[0]) == ["step 1", "step 3"]


def test_a_record_logged_twice_counts_once(log: Log, path: Path):
    log.user("once")
    log.records.append(log.records[0])
    assert len(_one(log, path).sessions[0].messages) == 1


def test_an_error_of_the_api_is_shown_and_never_sent(log: Log, path: Path):
    log.user("hi")
    log.answer(text("API Error: 529"), "m1", isApiErrorMessage=True)
    _, error = _one(log, path).sessions[0].messages
    assert error.inactive
    assert error.message.kind is Kind.SYNTHETIC


def test_the_prompt_size_counts_cached_parts(log: Log, path: Path):
    usage = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 20_000,
    }
    log.user("hi")
    log.answer(text("yes"), "m1", message={"usage": usage})
    (session,) = _one(log, path).sessions
    assert session.usage_tokens == 20_104
    assert session.messages[1].usage_tokens == 20_104


def test_the_title_is_a_summary_of_this_file_not_of_another(log: Log, path: Path):
    last = log.user("<command-name>/init</command-name>")
    foreign = {"type": "summary", "summary": "Another day", "leafUuid": "elsewhere"}
    own = {"type": "summary", "summary": "This day", "leafUuid": last}
    assert _one_with(log, path, [foreign, own]).title == "This day"
    assert _one_with(log, path, [foreign]).title == ""


def _one_with(log: Log, path: Path, more: Sequence[dict[str, Any]]) -> Any:
    return read_one(write_lines(path, [*log.records, *more]))


def test_the_todo_list_is_that_of_the_newest_call(log: Log, path: Path):
    for status in ("pending", "completed"):
        todos = [{"content": "write it", "status": status}]
        log.answer(use(f"t{status}", "TodoWrite", todos=todos), f"m{status}")
    assert _one(log, path).todos == (
        {"id": "1", "subject": "write it", "status": "completed"},
    )


def test_a_grown_file_keeps_what_was_there(log: Log, path: Path):
    log.user("one")
    log.answer(text("two"), "m1")
    before = _one(log, path)
    log.user("three")
    log.answer(text("four"), "m2")
    after = _one(log, path)
    assert after.external_id == before.external_id
    assert after.sessions[0].messages[:2] == before.sessions[0].messages


def test_kept_messages_cannot_multiply_without_end(log: Log, path: Path):
    head = log.user("first")
    tail = log.user("last")
    segment = {"preservedSegment": {"headUuid": head, "tailUuid": tail}}
    for _ in range(100):
        log.system("compact_boundary", compactMetadata=segment)
    with pytest.raises(SourceError) as caught:
        read_all(write_lines(path, log.records), SourceLimits(messages=150))
    assert caught.value.reason == "too_large"
