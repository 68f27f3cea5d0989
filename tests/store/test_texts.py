"""Text that a database can hold."""

from __future__ import annotations

from compaction.store.texts import ID_CHARS, id_for_column, readable, storable


def test_nul_and_lone_surrogates_become_visible():
    assert readable("a\x00b\ud83dc") == "a\u2400b\ufffdc"


def test_every_other_text_stays_the_very_same():
    text = "摘要 😀 \u202e <|endoftext|>"

    assert readable(text) is text


def test_a_json_value_is_cleaned_at_every_depth():
    assert storable({"a\x00": ["\ud800", {"b": ("\x00", 1, None)}]}) == {
        "a\u2400": ["\ufffd", {"b": ["\u2400", 1, None]}]
    }


def test_an_ordinary_id_stays():
    assert id_for_column("call_1") == "call_1"


def test_a_huge_id_fits_its_column_and_stays_apart_from_others():
    ids = ["x" * 10_000 + end for end in "ab"]

    short = [id_for_column(raw) for raw in ids]

    assert len(set(short)) == 2
    assert all(len(raw) <= ID_CHARS for raw in short)
    assert id_for_column(ids[0]) == short[0]


def test_ids_that_differ_only_in_what_cannot_be_stored_stay_apart():
    assert (
        id_for_column("a\x00") != id_for_column("a\ud800") != id_for_column("a\u2400")
    )
