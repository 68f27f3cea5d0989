"""What is planted is really said where it is said to be; and how it is judged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.quality.conversation import (
    FactsConversation,
    FactsShape,
    make_facts_conversation,
)
from bench.quality.facts import Fact, Kind, Place
from bench.quality.judging import share, stale_lines
from bench.quality.needles import plain, tells
from bench.quality.secrets import CODE, make_secrets, share_masked
from compaction.engine.messages import from_dict
from compaction.engine.validation import validate

SHAPE = FactsShape(rounds=3, groups=60, chars=400)


@pytest.fixture(scope="module")
def made() -> FactsConversation:
    return make_facts_conversation(SHAPE)


def said(message: dict[str, Any]) -> str:
    calls = [call["function"]["arguments"] for call in message.get("tool_calls", ())]
    return plain("\n".join([message.get("content") or "", *calls]))


def test_the_same_seed_makes_the_same_conversation(made: FactsConversation):
    again = make_facts_conversation(SHAPE)
    other = make_facts_conversation(SHAPE, seed=1)

    assert (again.rounds, again.facts) == (made.rounds, made.facts)
    assert other.rounds != made.rounds


def test_every_fact_stands_in_its_message(made: FactsConversation):
    messages = made.messages

    assert [
        f for f in made.facts if not tells(said(messages[f.position]), f.text)
    ] == []


def test_facts_stand_everywhere_in_two_languages_and_in_every_kind(
    made: FactsConversation,
):
    assert {fact.place for fact in made.facts} == set(Place)
    assert {fact.kind for fact in made.facts} == set(Kind)
    assert any(char >= "\u4e00" for fact in made.facts for char in fact.text)


def test_some_facts_end_after_they_were_said(made: FactsConversation):
    ended = [fact for fact in made.facts if fact.ended is not None]

    assert ended
    assert all(fact.position <= (fact.ended or 0) for fact in ended)
    assert any(fact.successor for fact in ended)


def test_no_provider_would_refuse_it(made: FactsConversation):
    messages = [from_dict(message) for message in made.messages]

    assert [found for found in validate(messages) if found.is_error] == []


@pytest.mark.parametrize(
    ("text", "needle", "is_told"),
    [
        ("the port is 8080.", "8080", True),
        ("the port is 18080", "8080", False),
        ("保留8080天", "8080", True),
        ("release v5.1", "5.1", False),
        ("see a/b.py", "a/b.py", True),
        ("see a/b.pyc", "a/b.py", False),
        (json.dumps({"say": '中文 "x"'}), '中文 "x"', True),
    ],
)
def test_a_needle_counts_only_as_a_whole(text: str, needle: str, is_told: bool):
    assert tells(plain(text), needle) is is_told


def fact(text: str, **more: object) -> Fact:
    given = {"kind": Kind.CONSTRAINT, "place": Place.USER, "position": 1} | more
    return Fact(text=text, **given)


def test_a_share_is_of_the_chosen_facts_alone():
    facts = [fact("one"), fact("two"), fact("three", position=9)]

    assert share(facts, "one three", where=lambda f: f.position < 5) == 0.5
    assert share(facts, "", where=lambda f: f.position > 99) == 1.0


STALE = [
    ("## Goal\n- use tabs", True),
    ("## Critical Context\n- use tabs", True),
    ("## Progress\n\n### Done\n- use tabs", False),
    ("## Goal\n- use spaces, do not use tabs", False),
    ("## Goal\n- use tabsize", False),
]


@pytest.mark.parametrize(("summary", "is_shown"), STALE)
def test_an_ended_fact_in_a_live_section_is_stale(summary: str, is_shown: bool):
    ended = fact("use tabs", ended=3, successor="use spaces")

    assert bool(stale_lines(summary, [ended], until=4)) is is_shown
    assert stale_lines(summary, [ended], until=3) == []  # not yet ended


def test_a_text_with_its_secret_left_counts_as_not_masked():
    texts = make_secrets()
    whole = [text for text, _ in texts]

    assert all(secret in text for text, secrets in texts for secret in secrets)
    assert share_masked(texts, whole) == 0
    assert share_masked(texts, ["***" for _ in texts]) == 1
    assert len(set(CODE)) == len(CODE)
