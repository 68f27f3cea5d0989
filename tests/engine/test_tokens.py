"""Counting: what counts, what does not, and which scripts weigh what."""

from __future__ import annotations

import pytest

from compaction.engine.messages import from_dict
from compaction.engine.tokens import (
    IMAGE_TOKENS,
    CharsOverFour,
    RoughCounter,
    count_message,
)
from tests.engine.builders import assistant, call, result, user

ROUGH = RoughCounter()


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("The quick brown fox jumps over the lazy dog. " * 10, 90, 125),
        ("上下文压缩是代理的核心特性之一。" * 10, 90, 130),
        ("コンテキストの圧縮は重要です。" * 10, 80, 130),
        ("컨텍스트 압축이 필요합니다. " * 10, 60, 130),
        ("ｆｕｌｌ　ｗｉｄｔｈ" * 10, 60, 110),
        ("การบีบอัดบริบท" * 10, 50, 110),
    ],
)
def test_every_script_is_estimated_within_bounds(text, low, high):
    """hermes#58784 counted CJK too low, hermes#104806 too high."""
    assert low <= ROUGH.count(text) <= high


def test_nothing_costs_nothing_and_nothing_raises():
    assert ROUGH.count("") == 0
    for text in ("<|endoftext|>", "\ud800", "\x00" * 10, "🙂" * 5):
        assert ROUGH.count(text) >= 1


def test_the_articles_estimate_is_a_quarter():
    assert CharsOverFour().count("a" * 401) == 100


def test_arguments_names_and_ids_count():
    """hermes#28053: a four-call turn was counted 73 instead of 1,090."""
    plain = count_message(assistant(""), ROUGH)
    busy = assistant("", calls=[call(f"call_{n}", text="x" * 900) for n in range(4)])

    assert count_message(busy, ROUGH) - plain > 900


def test_hidden_reasoning_counts():
    message = from_dict(
        {
            "role": "assistant",
            "content": "ok",
            "reasoning_details": [{"data": "x" * 8_000}],
        }
    )

    assert count_message(message, ROUGH) > 1_900


def test_base64_is_never_counted_as_text():
    """hermes#20946: a megabyte of base64 was counted as 333,000 tokens."""
    url = "data:image/png;base64," + "A" * 1_000_000
    picture = {"type": "image_url", "image_url": {"url": url}}
    message = from_dict({"role": "user", "content": [picture]})

    assert count_message(message, ROUGH) == ROUGH.overhead + IMAGE_TOKENS


def test_a_picture_in_a_nested_result_has_the_flat_price_too():
    part = {"type": "tool_result", "content": [{"type": "image", "data": "A" * 9_000}]}
    message = from_dict({"role": "tool", "tool_call_id": "c", "content": [part]})

    assert IMAGE_TOKENS <= count_message(message, ROUGH) < IMAGE_TOKENS + 50


def test_a_carried_summary_counts():
    message = user("short").evolve(carried_summary="x" * 4_000)

    assert count_message(message, ROUGH) > 1_000


def test_the_id_of_a_result_counts():
    long_id = result("c" * 400)

    assert count_message(long_id, ROUGH) > 100
