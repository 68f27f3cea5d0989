"""The event stream of a turn: what a browser gets that comes, and that comes back."""

from __future__ import annotations

import pytest

from compaction.models import Turn
from compaction.views.turn_stream import Place, look_at, read_place
from tests.web.rows import a_session
from tests.web.run_rows import HOSTILE
from tests.web.turn_rows import a_turn, a_working_turn, show

pytestmark = pytest.mark.django_db


@pytest.fixture
def turn():
    return a_working_turn(a_session(source="console"))


def test_a_browser_that_comes_gets_everything_and_need_not_ask_any_more(turn):
    show(turn, "text", "Seven ")
    show(turn, "text", "pears.")

    seen = look_at(turn.pk, None, None)

    assert "Seven pears." in seen.html
    assert 'hx-target="#turn-poll" hx-swap="delete"' in seen.html
    assert seen.place == Place(number=2, text=1)
    assert not seen.has_ended


def test_more_of_an_open_text_is_added_to_it(turn):
    show(turn, "text", "Seven ")
    before = look_at(turn.pk, None, None)
    show(turn, "text", "pears.")

    seen = look_at(turn.pk, before.place, before.state)

    assert 'hx-target="#step-1-text" hx-swap="beforeend">pears.<' in seen.html
    assert "Seven" not in seen.html


def test_a_text_after_an_answer_is_one_of_its_own(turn):
    show(turn, "text", "Seven.")
    before = look_at(turn.pk, None, None)
    show(turn, "answer", position=1)
    show(turn, "text", "Eight.")

    seen = look_at(turn.pk, before.place, before.state)

    assert 'id="step-3-text"' in seen.html
    assert seen.place == Place(number=3, text=3)


def test_a_result_is_put_into_its_call(turn):
    show(turn, "call", id="c1", name="file_read", arguments="{}")
    before = look_at(turn.pk, None, None)
    show(turn, "result", "seven pears", id="c1", chars=11)

    seen = look_at(turn.pk, before.place, before.state)

    assert 'hx-target="#step-1" hx-swap="outerHTML"' in seen.html
    assert "seven pears" in seen.html
    assert "#turn-steps" not in seen.html


def test_a_result_that_comes_in_one_message_with_its_call_stands_in_it(turn):
    """A place that the same message makes cannot be found by it."""
    before = look_at(turn.pk, None, None)
    show(turn, "call", id="c1", name="file_read", arguments="{}")
    show(turn, "result", "seven pears", id="c1", chars=11)

    seen = look_at(turn.pk, before.place, before.state)

    assert seen.html.count("<hx-partial") == 1
    assert "seven pears" in seen.html
    assert "no result yet" not in seen.html


def test_the_pieces_of_a_new_text_come_as_one(turn):
    before = look_at(turn.pk, None, None)
    show(turn, "text", "Seven ")
    show(turn, "text", "pears.")

    seen = look_at(turn.pk, before.place, before.state)

    assert "Seven pears." in seen.html
    assert seen.html.count("<hx-partial") == 1
    assert seen.place == Place(number=2, text=1)


def test_a_browser_that_comes_back_gets_what_it_missed_once(turn):
    for word in ("One ", "two ", "three"):
        show(turn, "text", word)

    seen = look_at(turn.pk, read_place("2.1"), None)

    assert ">three<" in seen.html
    assert "One" not in seen.html


def test_the_numbers_of_the_turn_follow_its_steps(turn):
    before = look_at(turn.pk, None, None)
    Turn.objects.filter(pk=turn.pk).update(step="tool", iterations=41)

    seen = look_at(turn.pk, before.place, before.state)

    assert 'hx-target="#turn-figures" hx-swap="innerHTML"' in seen.html
    assert "<dd>41</dd>" in seen.html


def test_while_nothing_changes_nothing_is_sent(turn):
    show(turn, "text", "Seven.")
    before = look_at(turn.pk, None, None)

    assert look_at(turn.pk, before.place, before.state).html == ""


def test_hostile_text_is_escaped(turn):
    show(turn, "text", HOSTILE)

    assert "<script>" not in look_at(turn.pk, None, None).html


def test_the_stream_ends_with_the_turn():
    turn = a_turn(a_session(source="console"))

    assert look_at(turn.pk, None, None).has_ended


@pytest.mark.parametrize("text", ["", "x", "1", "1.", ".1", "-1.2", "1.2.3"])
def test_an_id_that_we_did_not_write_means_a_first_look(text):
    assert read_place(text) is None
