"""ShareGPT turns: tags instead of fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compaction.sources import SourceError
from tests.sources.files import (
    messages_of,
    read_all,
    read_one,
    roles_of,
    write_json,
    write_lines,
)


def turn(speaker: str, value: str) -> dict[str, str]:
    return {"from": speaker, "value": value}


def called(name: str, **arguments: Any) -> str:
    body = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{body}\n</tool_call>"


def response(call_id: str, content: Any) -> str:
    body = json.dumps({"tool_call_id": call_id, "name": "f", "content": content})
    return f"<tool_response>\n{body}\n</tool_response>"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "samples"


def _record(*turns: dict[str, str]) -> dict[str, Any]:
    return {"conversations": list(turns), "timestamp": "2026-01-01T00:00:00"}


def test_thoughts_calls_and_results_become_fields(path: Path):
    record = _record(
        turn("human", "go"),
        turn("gpt", f"<think>\nhm\n</think>\nI go.\n{called('f', x=1)}\n{called('g')}"),
        turn("tool", response("id-1", "one") + "\n" + response("id-2", {"k": 2})),
        turn("gpt", "<think>\n</think>\ndone"),
    )
    (session,) = read_one(write_lines(path, [record])).sessions
    assert roles_of(session) == ["user", "assistant", "tool", "tool", "assistant"]
    _, answer, first, second, last = messages_of(session)
    assert (answer.text, answer.reasoning) == ("I go.", "hm")
    assert [(c.id, c.name) for c in answer.tool_calls] == [("id-1", "f"), ("id-2", "g")]
    assert answer.tool_calls[0].arguments == '{"x": 1}'
    assert (first.tool_call_id, first.text) == ("id-1", "one")
    assert (second.tool_call_id, second.text) == ("id-2", '{"k": 2}')
    assert (last.text, last.reasoning) == ("done", "")


def test_calls_without_a_result_get_ids_of_their_own(path: Path):
    record = _record(turn("human", "go"), turn("gpt", called("f") + called("f")))
    (_, answer) = messages_of(read_one(write_json(path, record)).sessions[0])
    assert len(set(answer.call_ids)) == 2
    assert all(answer.call_ids)


def test_a_call_that_is_no_json_is_kept_as_text(path: Path):
    record = _record(turn("gpt", "<tool_call>{'single': 1}</tool_call>"))
    (answer,) = messages_of(read_one(write_json(path, record)).sessions[0])
    assert answer.tool_calls[0].arguments == "{'single': 1}"


def test_an_unknown_speaker_is_an_error_with_its_line(path: Path):
    good, bad = _record(turn("human", "a")), _record(turn("ghost", "b"))
    with pytest.raises(SourceError) as caught:
        read_all(write_lines(path, [good, bad]))
    assert (caught.value.line, caught.value.reason) == (2, "broken")


def test_tags_that_never_close_are_text(path: Path):
    record = _record(turn("gpt", "<think>" * 3 + "no end"))
    (answer,) = messages_of(read_one(write_json(path, record)).sessions[0])
    assert answer.text == "<think>" * 3 + "no end"
