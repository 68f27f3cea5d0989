"""The words of a text, the same for every database."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from compaction.store.search_words import (
    INDEXED_CHARS,
    Phrase,
    read_query,
    search_words,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Fix the LOOP in s05_compress.py!", "fix the loop in s05 compress py"),
        ("旅行计划与预算", "旅 行 计 划 与 预 算"),
        ("预算 120 euros", "预 算 120 euros"),
        ("Größe Œuvre café", "grosse œuvre cafe"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("\x00a\ud800b\u202ec", "a b c"),
        ("", ""),
    ],
)
def test_words_ignore_case_accents_and_punctuation(text, words):
    assert search_words(text).split() == words.split()


def test_only_the_beginning_of_a_huge_text_is_indexed():
    words = search_words("a" * 10_000_000)

    assert len(words) == INDEXED_CHARS


@given(st.text(), st.text())
def test_a_word_is_the_same_alone_and_in_the_middle_of_others(left, right):
    apart = search_words(left).split() + search_words(right).split()

    assert search_words(f"{left}\n{right}").split() == apart


@pytest.mark.parametrize(
    ("typed", "phrases"),
    [
        ("compaction lo", [("compaction", True), ("lo", True)]),
        ('"exit code" 1', [("exit code", False), ("1", True)]),
        ('say "never closed', [("say", True), ("never closed", False)]),
        ("head_end", [("head end", True)]),
        ("预算", [("预 算", True)]),
        ('" OR *) NEAR(', [("or near", False)]),
        ("' ; -- \x00 \ud800", []),
        ("", []),
    ],
)
def test_what_a_person_types_becomes_phrases(typed, phrases):
    expected = tuple(Phrase(words=tuple(w.split()), is_open=o) for w, o in phrases)

    assert read_query(typed) == expected
