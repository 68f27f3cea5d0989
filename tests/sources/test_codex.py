"""Codex rollouts: doubled events, compactions, rollbacks, encrypted reasoning."""

from __future__ import annotations

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

AT = "2026-01-02T03:04:05.000Z"
HEADER = {"id": "0199-abc", "cwd": "/w", "cli_version": "0.40.0", "instructions": None}
PREAMBLE = "Another language model started to solve this problem and said:"


def record(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": kind, "payload": payload}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return record("response_item", type=kind, **fields)


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def called(call_id: str, name: str = "shell", arguments: str = "{}") -> dict[str, Any]:
    return item("function_call", name=name, arguments=arguments, call_id=call_id)


def returned(call_id: str, output: Any = "done") -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=output)


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return record("event_msg", type=kind, **fields)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rollout.log"


def _one(path: Path, *records: dict[str, Any]) -> Any:
    header = record("session_meta", **HEADER)
    return read_one(write_lines(path, [header, *records]))


def test_events_of_the_screen_are_not_read_a_second_time(path: Path):
    conversation = _one(
        path,
        said("user", "hi"),
        event("user_message", message="hi"),
        event("agent_message", message="hello"),
        said("assistant", "hello"),
    )
    assert texts_of(conversation.sessions[0]) == ["hi", "hello"]
    assert conversation.external_id == "0199-abc"


def test_reasoning_text_and_calls_up_to_the_first_result_are_one_message(path: Path):
    hidden = "gAAAA"
    summary = [{"type": "summary_text", "text": "**Plan**"}]
    (session,) = _one(
        path,
        said("user", "hi"),
        item("reasoning", summary=summary, encrypted_content=hidden),
        said("assistant", "I look."),
        called("a"),
        called("b"),
        returned("a"),
        returned("b"),
        said("assistant", "Seen."),
    ).sessions
    assert roles_of(session) == ["user", "assistant", "tool", "tool", "assistant"]
    answer = messages_of(session)[1]
    assert (answer.text, answer.reasoning) == ("I look.", "**Plan**")
    assert answer.call_ids == ("a", "b")
    blob = {"type": "reasoning", "encrypted_content": hidden}
    assert answer.extra["codex_reasoning_items"] == [blob]


def test_two_texts_of_one_turn_are_two_messages(path: Path):
    (session,) = _one(
        path,
        said("assistant", "I begin."),
        called("a"),
        returned("a"),
        said("assistant", "Half way."),
        said("assistant", "Done."),
    ).sessions
    assert texts_of(session) == ["I begin.", "done", "Half way.", "Done."]


def test_what_the_program_puts_before_the_user_is_synthetic(path: Path):
    (session,) = _one(
        path,
        said("user", "<environment_context>\n<cwd>/w</cwd></environment_context>"),
        said("user", "# AGENTS.md instructions for /w\n\nbe brief"),
        said("user", "real words"),
        said("user", "<turn_aborted>stopped</turn_aborted>"),
    ).sessions
    kinds = [message.kind.value for message in messages_of(session)]
    assert kinds == ["synthetic", "synthetic", "plain", "synthetic"]


def test_custom_and_local_calls_are_calls_like_any_other(path: Path):
    (session,) = _one(
        path,
        item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="p"),
        item("custom_tool_call_output", call_id="p", output="ok"),
        item("local_shell_call", call_id="s", action={"command": ["ls"]}),
        returned("s", {"content": "a b", "success": True}),
        item("web_search_call", id="w", action={"type": "search", "query": "q"}),
    ).sessions
    messages = messages_of(session)
    assert calls_of(session) == ["p", "s", "w"]
    assert messages[0].tool_calls[0].arguments == "*** Begin"
    assert messages[3].text == "a b"
    assert messages[-1].tool_call_id == "w"  # the provider answers it, nobody else


def test_results_may_hold_pictures(path: Path):
    parts = [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "data:image/png;base64,QQ=="},
    ]
    (session,) = _one(path, called("a"), returned("a", parts)).sessions
    assert messages_of(session)[1].image_count == 1


def test_a_compaction_with_its_new_history_opens_a_generation(path: Path):
    history = [
        said("user", "first wish")["payload"],
        said("user", f"{PREAMBLE}\n# what was done")["payload"],
    ]
    conversation = _one(
        path,
        said("user", "first wish"),
        said("assistant", "working"),
        record(
            "compacted",
            message=f"{PREAMBLE}\n# what was done",
            replacement_history=history,
        ),
        said("user", "second wish"),
    )
    first, second = conversation.sessions
    assert (first.end_reason, second.link) == ("compression", Link.IN_PLACE)
    assert second.summary == "# what was done"
    kinds = [message.kind for message in messages_of(second)]
    assert kinds == [Kind.PLAIN, Kind.SUMMARY, Kind.PLAIN]
    assert [m.origin for m in second.messages] == [0, None, None]
    assert second.external_id == "0199-abc@2"


def test_a_compaction_without_its_history_is_rebuilt_as_codex_does(path: Path):
    conversation = _one(
        path,
        said("user", "<environment_context>x</environment_context>"),
        said("user", "wish"),
        said("assistant", "working"),
        called("a"),
        returned("a"),
        record("compacted", message="# bare summary"),
        said("assistant", "going on"),
    )
    second = conversation.sessions[1]
    assert texts_of(second) == [
        "<environment_context>x</environment_context>",
        "wish",
        "# bare summary",
        "going on",
    ]
    assert second.summary == "# bare summary"


def test_kept_prompts_are_the_newest_within_codex_budget(path: Path):
    (_, second) = _one(
        path,
        said("user", "forgotten"),
        said("user", "cut " * 1_000),
        said("user", "x" * 79_000),
        said("user", "newest"),
        record("compacted", message="# s"),
    ).sessions
    kept = texts_of(second)
    assert [len(text) for text in kept[:2]] == [80_000 - 79_000 - 6, 79_000]
    assert kept[2:] == ["newest", "# s"]


def test_a_summary_only_the_provider_can_read_is_named_as_such(path: Path):
    history = [item("compaction", encrypted_content="gAAA")["payload"]]
    (_, second) = _one(
        path,
        said("user", "hi"),
        record("compacted", message="", replacement_history=history),
    ).sessions
    assert messages_of(second)[0].kind is Kind.SUMMARY
    assert "encrypted" in second.summary


def test_turns_that_were_rolled_back_are_inactive(path: Path):
    (session,) = _one(
        path,
        said("user", "one"),
        said("assistant", "1"),
        said("user", "two"),
        said("assistant", "2"),
        said("user", "three"),
        said("assistant", "3"),
        event("thread_rolled_back", num_turns=2),
        said("user", "other two"),
    ).sessions
    active = [m.message.text for m in session.messages if not m.inactive]
    assert active == ["one", "1", "other two"]
    assert len(session.messages) == 7


def test_an_aborted_turn_is_noted_and_its_call_stays_open(path: Path):
    conversation = _one(
        path, said("user", "hi"), called("a"), event("turn_aborted", reason="x")
    )
    assert conversation.notes == ("turn_aborted:1",)
    assert roles_of(conversation.sessions[0]) == ["user", "assistant"]


def test_items_of_an_unknown_kind_are_counted(path: Path):
    conversation = _one(path, said("user", "hi"), item("hologram"), item("hologram"))
    assert conversation.notes == ("unknown_items:hologram:2",)


def test_model_window_and_prompt_size_are_the_newest(path: Path):
    info = {
        "last_token_usage": {"input_tokens": 1234},
        "model_context_window": 272_000,
    }
    conversation = _one(
        path,
        record("turn_context", model="gpt-a"),
        record("turn_context", model="gpt-b"),
        said("user", "hi"),
        said("assistant", "yes"),
        event("token_count", info=info),
    )
    assert (conversation.model, conversation.window) == ("gpt-b", 272_000)
    assert conversation.sessions[0].usage_tokens == 1234
    assert conversation.sessions[0].messages[1].usage_tokens == 1234


def test_the_title_is_the_request_not_what_the_editor_adds(path: Path):
    prompt = (
        "# Context from my IDE setup:\n\n## My request for Codex:\nfix the bug\nnow"
    )
    assert _one(path, said("user", prompt)).title == "fix the bug"


def test_a_fork_says_where_it_came_from(path: Path):
    header = record("session_meta", **HEADER, forked_from_id="0198-zzz")
    conversation = read_one(write_lines(path, [header, said("user", "hi")]))
    assert conversation.meta["branch_of"] == "0198-zzz"
    assert conversation.sessions[0].link is Link.BRANCH


def test_a_rollout_from_before_september_2025_has_bare_items(path: Path):
    header = {"id": "old-1", "timestamp": AT, "instructions": "be nice", "git": {}}
    bare = [said("user", "hi")["payload"], {"record_type": "state"}]
    conversation = read_one(write_lines(path, [header, *bare]))
    assert conversation.external_id == "old-1"
    assert texts_of(conversation.sessions[0]) == ["hi"]
    assert conversation.sessions[0].system_prompt == "be nice"


def test_the_plan_is_the_todo_list(path: Path):
    arguments = '{"plan": [{"step": "look", "status": "in_progress"}]}'
    conversation = _one(path, called("p", "update_plan", arguments))
    assert conversation.todos == (
        {"id": "1", "subject": "look", "status": "in_progress"},
    )


def test_a_truncated_last_line_is_left_out_and_noted(path: Path):
    write_lines(path, [record("session_meta", **HEADER), said("user", "hi")])
    with path.open("a") as stream:
        stream.write('{"timestamp": "2026-01-02T03:04:05Z", "type": "respon')
    conversation = read_one(path)
    assert conversation.notes == ("truncated_last_line:3",)
    assert texts_of(conversation.sessions[0]) == ["hi"]


def test_rollbacks_and_compactions_without_end_stay_cheap(path: Path):
    records = [record("session_meta", **HEADER)]
    for _ in range(300):
        records += [said("user", "x"), record("compacted", message="s")]
    with pytest.raises(SourceError) as caught:
        read_all(write_lines(path, records), SourceLimits(messages=5_000))
    assert caught.value.reason == "too_large"
