"""Messages: one normaliser, and dicts that come back as they went in."""

from __future__ import annotations

import pytest

from compaction.engine.messages import (
    Kind,
    Message,
    Role,
    from_dict,
    from_storage,
    parts_of,
    text_of,
    to_dict,
    to_storage,
)

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}


@pytest.mark.parametrize(
    "raw",
    [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": None},
        {"role": "assistant", "content": ""},
        {"role": "assistant"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, PICTURE]},
        {"role": "user", "content": []},
        {"role": "tool", "tool_call_id": "c", "content": "ok", "name": "read_file"},
        {"role": "developer", "content": "rules"},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "tool_calls": [
                {
                    "id": "c",
                    "type": "function",
                    "function": {"name": "f", "arguments": "{}"},
                    "index": 0,
                }
            ],
        },
        {"role": "assistant", "content": "x", "tool_calls": []},
        {"role": "user", "content": "x", "kind": "somebody else's"},
        {"role": "user", "content": "x", "cache_control": {"type": "ephemeral"}},
    ],
)
def test_a_message_comes_back_as_it_went_in(raw):
    assert to_dict(from_dict(raw)) == raw


def test_fields_of_ours_are_never_sent():
    message = Message(
        role=Role.USER, content="x", kind=Kind.SUMMARY, pinned=True, dropped=True
    )

    assert to_dict(message) == {"role": "user", "content": "x"}
    assert from_storage(to_storage(message)) == message


def test_an_unknown_role_is_refused_by_name():
    with pytest.raises(ValueError, match="'wizard'"):
        from_dict({"role": "wizard", "content": "x"})


def test_a_call_that_is_no_object_is_refused():
    with pytest.raises(ValueError, match="must be an object"):
        from_dict({"role": "assistant", "tool_calls": ["no"]})


def test_arguments_that_are_an_object_become_json_text():
    call = {"id": "c", "function": {"name": "f", "arguments": {"a": "ü"}}}

    message = from_dict({"role": "assistant", "tool_calls": [call]})

    assert message.tool_calls[0].arguments == '{"a": "ü"}'


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, PICTURE], "a\n[image]"),
        ([{"type": "tool_result", "content": [{"text": "deep"}]}], "deep"),
        (["bare", 3], "bare\n3"),
        ({"type": "text", "text": "one part"}, "one part"),
        ([{"type": "audio"}], "[audio]"),
        (17, "17"),
    ],
)
def test_any_content_has_a_text(content, text):
    assert text_of(content) == text


def test_parts_of_nothing_are_none():
    assert parts_of(None) == parts_of("") == ()


def test_pictures_are_counted_not_read():
    message = from_dict({"role": "user", "content": [PICTURE, PICTURE]})

    assert message.image_count == 2
    assert "base64" not in message.text


def test_a_carried_summary_stands_behind_the_own_text():
    """hermes#56372: text behind the end marker would read as new."""
    message = Message(role=Role.ASSISTANT, content="Mine.", carried_summary="Sum.")

    sent = to_dict(message)["content"]

    assert sent.startswith("Mine.")
    assert sent.endswith("Sum.")
    assert message.content == "Mine."
    assert from_storage(to_storage(message)) == message


def test_a_carrier_without_text_sends_the_summary_alone():
    message = Message(role=Role.ASSISTANT, content="", carried_summary="Sum.")

    assert to_dict(message)["content"] == "Sum."


def test_a_carrier_of_parts_gets_one_part_more():
    message = from_dict({"role": "user", "content": [PICTURE]})

    sent = to_dict(message.evolve(carried_summary="Sum."))["content"]

    assert sent == [PICTURE, {"type": "text", "text": "Sum."}]
