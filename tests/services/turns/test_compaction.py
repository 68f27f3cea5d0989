"""Compactions inside a turn: runs like any other, within cooldowns and budgets."""

from __future__ import annotations

import pytest

from compaction.models import Conversation, Run
from compaction.services.cooldowns import start_cooldown
from compaction.services.runs.work import perform_run
from compaction.services.turns import compaction
from compaction.store import load_messages
from tests.conversations import long_talk
from tests.services.turn_fixtures import calls, own_session, play, says

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(endpoint):
    """About 80,000 tokens in a window of 128,000: a run is due."""
    return own_session(long_talk(turns=60))


def test_a_run_is_due_before_the_first_call(session, endpoint):
    endpoint.play(says("Done."))

    turn = play(session)

    run = turn.runs.get()
    assert (run.trigger, run.outcome, run.turn) == ("preflight", "summarised", turn)
    child = run.result_session
    assert [m.text for m in load_messages(child)[-2:]] == ["Go on.", "Done."]
    assert child.parent == session
    sent = endpoint.requests[0].body["messages"]
    assert len(sent) < 60
    assert "were compacted into a summary" in sent[0]["content"]
    kinds = list(turn.chunks.values_list("kind", flat=True))
    assert kinds == ["run", "text", "answer"]
    assert turn.chunks.get(kind="run").data["run"] == str(run.pk)


def test_a_run_that_another_worker_has_in_hand_is_waited_for(
    session, endpoint, monkeypatch
):
    """To go on beside it would make its plan stale and its summary a waste."""
    tries = []

    def do_at_the_third_look(run_id):
        tries.append(Run.objects.get(pk=run_id).status)
        if len(tries) == 3:
            perform_run(run_id)

    monkeypatch.setattr(compaction, "perform_run", do_at_the_third_look)
    endpoint.play(says("Done."))

    turn = play(session)

    assert tries == ["queued"] * 3
    assert turn.runs.get().outcome == "summarised"
    assert len(endpoint.requests[0].body["messages"]) < 60


def test_a_run_is_due_after_tool_results_by_the_real_usage(endpoint):
    session = own_session(long_talk(turns=25))
    usage = {"prompt_tokens": 70_000, "completion_tokens": 5}
    endpoint.play(calls(("memory_read", "{}"), usage=usage), says("Done."))

    turn = play(session)

    assert turn.end == "completed"
    assert turn.runs.get().trigger == "in_loop"


def test_one_real_usage_number_comes_between_two_runs(endpoint):
    """Hermes#35054: no provider number, no second automatic run."""
    session = own_session(long_talk(turns=60))
    silent = {"prompt_tokens": 0, "completion_tokens": 0}
    endpoint.play(
        *(calls(("memory_read", "{}"), usage=silent) for _ in range(5)), says("Done.")
    )

    turn = play(session, "x " * 60_000)

    assert turn.runs.count() == 1


def test_in_a_cooldown_an_automatic_run_is_skipped_and_the_turn_goes_on(
    session, endpoint
):
    start_cooldown(session.conversation, seconds=600, reason="timeout")
    endpoint.play(calls(("memory_read", "{}")), says("Done."))

    turn = play(session)

    assert turn.end == "completed"
    assert [run.outcome for run in turn.runs.all()] == ["cooldown"]
    assert load_messages(session)[-1].text == "Done."


def test_an_agent_that_cannot_go_on_gets_the_stand_in_in_a_cooldown(session, endpoint):
    start_cooldown(session.conversation, seconds=600, reason="timeout")
    endpoint.play("overflow", says("Done."))

    turn = play(session)

    assert turn.end == "completed"
    last = turn.runs.order_by("queued_at").last()
    assert (last.trigger, last.outcome, last.embedded) == (
        "context_overflow",
        "summarised",
        True,
    )


def test_what_cannot_shrink_ends_the_turn_with_stuck(endpoint):
    session = own_session(window=16_000)

    turn = play(session, "word " * 9_000)

    assert (turn.status, turn.end) == ("failed", "stuck")
    assert endpoint.requests == []
    conversation = Conversation.objects.get(pk=session.conversation_id)
    assert conversation.state == "stuck"
    assert load_messages(session)[-1].text.startswith("word word")


def test_a_window_that_was_learnt_holds_in_the_next_turn(endpoint):
    session = own_session(long_talk(turns=25))
    endpoint.play("overflow", says("Done."))
    first = play(session)
    assert first.window == 8_192

    tip = Conversation.objects.get(pk=session.conversation_id).tip
    endpoint.always(says("Done."))
    second = play(tip, "And now?")

    assert second.window == 8_192
    assert Run.objects.filter(turn=second).count() <= 1
