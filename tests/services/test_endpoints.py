"""Stored endpoints at work: which one answers a turn, and what holds at the call."""

from __future__ import annotations

import pytest

from compaction.models import Endpoint, RecoveryEvent, Run
from compaction.services.audit import verify_chain
from compaction.services.endpoints import (
    Direction,
    EndpointDraft,
    disable_endpoint,
    move_endpoint,
    save_endpoint,
)
from tests.conversations import long_talk
from tests.services.run_fixtures import run_session
from tests.services.turn_fixtures import own_session, play, says

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(scripted_openai, second_openai) -> list[Endpoint]:
    """The primary and its fallback, both of them servers of this test."""
    for name, server in (("first", scripted_openai), ("second", second_openai)):
        draft = EndpointDraft(
            name=name, base_url=server.base_url, model=name, allow_private=True
        )
        save_endpoint(draft, operator=None)
    return list(Endpoint.objects.all())


def test_the_first_in_the_order_answers(two, scripted_openai, second_openai):
    turn = play(own_session())

    assert turn.endpoint == "first"
    move_endpoint(two[1], Direction.FIRST, operator=None)
    assert play(own_session()).endpoint == "second"
    assert (len(scripted_openai.requests), len(second_openai.requests)) == (1, 1)
    assert scripted_openai.requests[0].body["model"] == "first"


def test_a_disabled_primary_leaves_its_place_to_the_next(two, scripted_openai):
    disable_endpoint(two[0], operator=None)

    assert play(own_session()).endpoint == "second"
    assert scripted_openai.requests == []


def test_an_endpoint_that_may_not_be_reached_gives_way_to_the_next(
    two, scripted_openai, second_openai
):
    Endpoint.objects.filter(name="first").update(allow_private=False)
    second_openai.play(says("Here I am."))

    turn = play(own_session())

    assert (turn.end, turn.endpoint) == ("completed", "second")
    assert scripted_openai.requests == []
    error = RecoveryEvent.objects.get(turn=turn, kind="error")
    assert (error.reason, error.action) == ("no_provider", "fail_over")
    assert "loopback" in error.detail


def test_prices_of_the_endpoint_that_answered_make_the_cost(two, scripted_openai):
    Endpoint.objects.filter(name="first").update(input_price=1, output_price=2)
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 500_000}
    scripted_openai.play(says("Dear.", usage=usage))

    assert play(own_session()).cost == 2


def test_the_endpoint_that_writes_summaries_writes_the_next_one(two, second_openai):
    Endpoint.objects.filter(name="second").update(
        writes_summaries=True, input_price=1, output_price=1
    )
    run = run_session(own_session(long_talk(turns=20)))

    assert Run.objects.get(pk=run.pk).summariser == "second"
    assert run.cost > 0
    assert len(second_openai.requests) == 1


def test_what_was_done_stands_in_an_unbroken_chain(two):
    disable_endpoint(two[0], operator=None)
    assert verify_chain().is_whole
