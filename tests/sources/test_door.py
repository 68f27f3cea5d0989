"""The door: formats by content, limits, and one kind of error for everything."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from compaction.sources import (
    SourceError,
    SourceLimits,
    detect,
    read_conversations,
    summarise_file,
)
from compaction.sources.values import REASONS
from tests.sources.files import read_all, read_one, texts_of, write_json, write_lines

USER = {"role": "user", "content": "hi"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log"


def _refusal(path: Path, limits: SourceLimits | None = None) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read_all(path, limits)
    error = caught.value
    assert error.reason in REASONS
    assert error.path == str(path)
    assert error.detail
    return error


@pytest.mark.parametrize("name", ["state.db", "notes.txt", "rollout.jsonl", "x"])
def test_the_name_of_a_file_means_nothing(tmp_path: Path, name: str):
    path = write_json(tmp_path / name, [USER])
    assert detect(path) == "openai_messages"


def test_a_file_that_is_not_there(path: Path):
    assert _refusal(path).reason == "not_found"


def test_a_directory(tmp_path: Path):
    error = _refusal(tmp_path)
    assert (error.reason, "directory" in error.detail) == ("not_readable", True)


def test_a_pipe_is_never_waited_for(path: Path):
    os.mkfifo(path)
    assert _refusal(path).reason == "not_readable"


def test_a_path_with_a_nul(tmp_path: Path):
    with pytest.raises(SourceError) as caught:
        read_all(Path("a\x00b"))
    assert caught.value.reason == "not_readable"


@pytest.mark.parametrize("content", [b"", b"  \n\n\t", b"\x00" * 100, b"\xef\xbb\xbf"])
def test_an_empty_file(path: Path, content: bytes):
    path.write_bytes(content)
    assert _refusal(path).reason == "empty"


@pytest.mark.parametrize(
    "content",
    [b"hello", b"<html></html>", b"\x89PNG\r\n", b"PK\x03\x04", b"\xff\xfe{\x00"],
)
def test_a_file_that_is_no_log_at_all(path: Path, content: bytes):
    path.write_bytes(content)
    assert _refusal(path).reason == "unknown_format"


@pytest.mark.parametrize("value", [{}, [], [1, 2], {"a": 1}, {"messages": []}, [[]]])
def test_json_of_something_else(path: Path, value: Any):
    assert _refusal(write_json(path, value)).reason == "unknown_format"


def test_broken_json_is_named_by_its_line(path: Path):
    path.write_text('{"messages": [\n  {"role": "user",\n   "content": }\n]}')
    error = _refusal(path)
    assert (error.reason, error.line) == ("broken", 3)
    assert str(error).startswith(f"{path}:3: ")


def test_a_broken_line_in_the_middle_is_named_and_nothing_is_given(path: Path):
    path.write_text(f'{json.dumps(USER)}\n{{"role": "us\n{json.dumps(USER)}\n')
    error = _refusal(path)
    assert (error.reason, error.line) == ("broken", 2)


def test_a_broken_last_line_with_its_line_end_was_not_cut_while_growing(path: Path):
    path.write_text(f'{json.dumps(USER)}\n{{"role": "us\n')
    assert _refusal(path).line == 2


@pytest.mark.parametrize("cut", [1, 5, 20, 27])
def test_a_last_line_cut_anywhere_is_left_out(path: Path, cut: int):
    line = json.dumps(USER)
    path.write_text(f"{line}\n{line}\n{line[:cut]}")
    conversation = read_one(path)
    assert len(conversation.sessions[0].messages) == 2
    assert conversation.notes == ("truncated_last_line:3",)


def test_a_last_line_that_is_only_cut_by_its_line_end_is_whole(path: Path):
    path.write_text(f"{json.dumps(USER)}\n{json.dumps(USER)}")
    conversation = read_one(path)
    assert len(conversation.sessions[0].messages) == 2
    assert conversation.notes == ()


def test_nul_bytes_that_a_crash_left_behind_are_blank(path: Path):
    write_lines(path, [USER, USER])
    with path.open("ab") as stream:
        stream.write(b"\x00" * 4096)
    assert len(read_one(path).sessions[0].messages) == 2


def test_bytes_that_are_not_utf8_are_named_by_their_line(path: Path):
    path.write_bytes(b'[{"role": "user",\n "content": "\xff\xfe"}]')
    error = _refusal(path)
    assert (error.reason, error.line) == ("broken", 2)


def test_a_byte_order_mark_is_skipped(path: Path):
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps([USER]).encode())
    assert texts_of(read_one(path).sessions[0]) == ["hi"]


def test_windows_line_ends_are_fine(path: Path):
    path.write_bytes(b"\r\n".join(json.dumps(USER).encode() for _ in range(3)))
    assert len(read_one(path).sessions[0].messages) == 3


def test_nan_and_infinity_are_read_as_nothing(path: Path):
    path.write_text('[{"role": "user", "content": "x", "n": NaN, "i": 1e999}]')
    (message,) = [m.message for m in read_one(path).sessions[0].messages]
    assert message.extra == {"n": None, "i": None}


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"role":"user","content":['])
@pytest.mark.parametrize("depth", [150, 100_000])
def test_deep_nesting_is_refused_not_crashed(path: Path, opening: str, depth: int):
    closing = {"[": "]", "{": "}"}
    ends = "".join(closing[c] for c in reversed(opening * depth) if c in closing)
    path.write_text(f"{opening * depth}1{ends}")
    assert _refusal(path).reason == "too_deep"


def test_a_number_of_thousands_of_digits_is_refused(path: Path):
    path.write_text('[{"role": "user", "content": ' + "9" * 10_000 + "}]")
    assert _refusal(path).reason == "broken"


def test_a_file_over_the_limit_is_refused_before_it_is_read(path: Path):
    write_json(path, [USER] * 100)
    error = _refusal(path, SourceLimits(file_bytes=1_000))
    assert (error.reason, "limit 1,000" in error.detail) == ("too_large", True)
    assert _refusal(path, SourceLimits(document_bytes=1_000)).reason == "too_large"


def test_a_line_over_the_limit_is_refused(path: Path):
    write_lines(path, [USER, USER, {"role": "user", "content": "x" * 5_000}])
    error = _refusal(path, SourceLimits(line_bytes=1_000))
    assert (error.reason, error.line) == ("too_large", 3)


def test_ten_megabytes_of_one_letter_are_one_message(path: Path):
    write_json(path, [{"role": "user", "content": "a" * 10_000_000}])
    assert len(texts_of(read_one(path).sessions[0])[0]) == 10_000_000


def test_a_database_magic_without_a_database_behind_it(path: Path):
    path.write_bytes(b"SQLite format 3\x00" + b"\x07" * 5_000)
    assert _refusal(path).reason == "broken"


def test_a_truncated_database(tmp_path: Path):
    whole, cut = tmp_path / "whole.db", tmp_path / "cut.db"
    db = sqlite3.connect(whole)
    db.executescript(
        "CREATE TABLE sessions (id TEXT); CREATE TABLE messages"
        " (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT);"
    )
    db.executemany("INSERT INTO sessions VALUES (?)", [("s" * 900,)] * 50)
    db.commit()
    db.close()
    cut.write_bytes(whole.read_bytes()[:9_000])
    assert _refusal(cut).reason == "broken"


def test_nothing_is_read_before_it_is_asked_for(path: Path):
    reading = read_conversations(path)  # no such file
    with pytest.raises(SourceError):
        next(reading)


def test_facts_of_a_log_are_counted_unless_it_is_large(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_json(path, [USER, USER])
    facts = summarise_file(path)
    assert (facts.format, facts.conversations, facts.messages) == (
        "openai_messages",
        1,
        2,
    )
    monkeypatch.setattr("compaction.sources._CHEAP_BYTES", 10)
    facts = summarise_file(path)
    assert (facts.conversations, facts.messages) == (None, None)
    assert facts.size == path.stat().st_size


def test_two_formats_in_one_look_alike_are_told_apart(path: Path):
    mini = {"messages": [USER], "trajectory_format": "mini-swe-agent-1"}
    hermes = {"id": "s", "source": "cli", "started_at": 1, "messages": [USER]}
    swe = {"history": [USER], "trajectory": [], "messages": [USER]}
    for document, expected in (
        (mini, "mini_swe_agent"),
        (hermes, "hermes_export"),
        (swe, "swe_agent"),
        ({"messages": [USER]}, "openai_messages"),
    ):
        assert detect(write_json(path, document)) == expected
