"""Ids, titles and verbatim copies."""

from __future__ import annotations

from hypothesis import given, strategies as st

from compaction.engine.messages import Kind, Message, Role
from compaction.sources.conversations import (
    UniqueIds,
    chain,
    opening_id,
    title_of,
    trace_copies,
)
from compaction.sources.values import SourceMessage, SourceSession


def _say(*texts: str, role: Role = Role.USER) -> list[SourceMessage]:
    return [SourceMessage(message=Message(role=role, content=t)) for t in texts]


def _origins(
    messages: list[SourceMessage], parent: list[SourceMessage]
) -> list[int | None]:
    return [item.origin for item in trace_copies(messages, parent)]


def test_copies_are_found_in_order():
    parent = _say("a", "b", "c", "d")
    assert _origins(_say("a", "x", "c", "d", "y"), parent) == [0, None, 2, 3, None]


def test_where_a_text_occurs_twice_its_successor_decides():
    parent = _say("continue", "one", "continue", "two")
    assert _origins(_say("continue", "two"), parent) == [2, 3]


def test_a_new_summary_equal_to_the_old_one_is_no_copy():
    summary = [SourceMessage(message=Message(role=Role.USER, kind=Kind.SUMMARY))]
    assert _origins(summary, summary) == [None]


@given(st.lists(st.sampled_from("abc"), max_size=12), st.data())
def test_a_copy_is_always_equal_and_the_order_is_kept(texts: list[str], data):
    parent = _say(*texts)
    child = _say(*data.draw(st.lists(st.sampled_from("abcd"), max_size=12)))
    origins = _origins(child, parent)
    places = [place for place in origins if place is not None]
    assert places == sorted(set(places))
    for item, place in zip(child, origins, strict=True):
        assert place is None or parent[place].message == item.message


def test_a_hundred_thousand_equal_messages_are_traced_at_once():
    messages = _say(*["same"] * 100_000)
    assert _origins(messages, messages)[-1] == 99_999


def test_a_chain_numbers_its_generations():
    sessions = chain(
        SourceSession(external_id=name, messages=tuple(_say("x"))) for name in "abc"
    )
    assert [(s.generation, s.parent) for s in sessions] == [(1, None), (2, 0), (3, 1)]


def test_the_title_is_what_a_person_wrote_first():
    synthetic = Message(role=Role.USER, content="hook", kind=Kind.SYNTHETIC)
    messages = [SourceMessage(message=synthetic), *_say("<tag>\n/init\n\n  Fix it \nx")]
    assert title_of(messages) == "Fix it"
    assert title_of(_say("<tag>")) == ""
    assert len(title_of(_say("word " * 100))) <= 80


def test_an_opening_ends_with_the_first_answer():
    question, answer = _say("q"), _say("a", role=Role.ASSISTANT)
    base = opening_id([*question, *answer])
    assert opening_id([*question, *answer, *_say("more")]) == base
    assert opening_id([*question, *_say("b", role=Role.ASSISTANT)]) != base
    assert opening_id([*question, *answer], "task 2") != base


def test_the_second_use_of_an_id_is_marked():
    ids = UniqueIds()
    assert [ids.claim(name) for name in "aabaa"] == ["a", "a-2", "b", "a-3", "a-4"]
