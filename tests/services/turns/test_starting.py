"""Who may have a turn: never two at once, never beside a run, no message lost."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from compaction.engine.messages import Kind, Role
from compaction.engine.task_state import set_goal, write_todos
from compaction.models import Conversation, Endpoint, OperatorAction, Run, Session, Turn
from compaction.services.conversation_starts import (
    NewConversation,
    new_conversation,
    start_fresh,
)
from compaction.services.memory import add_memory
from compaction.services.runs.starting import Refusal, RunRequest, queue_run
from compaction.services.task_states import change_by_agent
from compaction.services.turns.starting import (
    STOPPED,
    TurnRefused,
    TurnRequest,
    cancel_turn,
    queue_turn,
)
from compaction.store import load_messages, summary_in_force
from compaction.store.memory import memories_in_force
from compaction.store.task_states import newest_task_version
from tests.conversations import call, long_talk, say, store_session
from tests.services.run_fixtures import POLICY, run_session
from tests.services.turn_fixtures import ask, own_session, play, says

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(endpoint):
    return own_session()


def refusal(conversation, **request):
    with pytest.raises(TurnRefused) as refused:
        ask(conversation, **request)
    return refused.value


def test_the_message_is_stored_with_the_turn(session, operator):
    turn = ask(session.conversation, "Hello", operator=operator)

    assert (turn.status, turn.session, turn.requested_by) == (
        "queued",
        session,
        operator,
    )
    assert [m.text for m in load_messages(session)] == ["Hello"]
    assert OperatorAction.objects.get(verb="send_message").target == f"turn:{turn.pk}"


def test_the_same_press_again_is_the_same_turn(session):
    first = ask(session.conversation, "Hello", key="one")
    second = ask(session.conversation, "Hello", key="one")

    assert first == second
    assert len(load_messages(session)) == 1


def test_a_second_message_waits_for_the_turn_to_end(session):
    turn = ask(session.conversation)

    refused = refusal(session.conversation)

    assert (refused.code, refused.turn) == ("busy", turn)
    assert len(load_messages(session)) == 1


def test_no_turn_begins_beside_a_run(endpoint):
    session = own_session(long_talk(turns=20))
    run = queue_run(session, RunRequest(policy=POLICY)).run

    refused = refusal(session.conversation)

    assert (refused.code, refused.run) == ("compacting", run)


def test_no_run_begins_beside_a_turn(session):
    ask(session.conversation)

    queued = queue_run(session, RunRequest(policy=POLICY))

    assert (queued.run, queued.refusal) == (None, Refusal.TURN_ACTIVE)


@pytest.mark.parametrize(
    ("text", "code"), [(" \n", "blank"), ("x" * 200_001, "too_long")]
)
def test_what_is_no_message_is_refused(session, text, code):
    assert refusal(session.conversation, text=text).code == code
    assert not Turn.objects.exists()


def test_without_an_endpoint_nothing_is_written(session):
    Endpoint.objects.update(enabled=False)

    assert refusal(session.conversation).code == "no_endpoint"
    assert load_messages(session) == []


def test_a_copy_is_continued_only_when_an_operator_says_so(endpoint, operator):
    session = store_session([say(Role.USER, "hi")], imported_from="log.jsonl")
    conversation = session.conversation
    assert refusal(conversation).code == "imported"

    turn = ask(conversation, operator=operator, continue_copy=True)
    cancel_turn(turn.pk)

    assert ask(Conversation.objects.get(pk=conversation.pk)).status == "queued"
    assert OperatorAction.objects.filter(verb="continue_copy").count() == 1


def test_calls_that_a_stopped_turn_left_open_get_a_result_first(endpoint):
    session = own_session([say(Role.USER, "hi"), call(1)])

    ask(session.conversation, "And now?")

    stub, said = load_messages(session)[2:]
    assert (stub.text, stub.kind, stub.tool_call_id) == (STOPPED, Kind.STUB, "call_1")
    assert said.text == "And now?"


def test_a_stop_is_seen_at_once_and_leaves_what_there_is(session, operator):
    turn = ask(session.conversation, "Hello")

    assert cancel_turn(turn.pk, operator=operator)

    turn.refresh_from_db()
    assert (turn.status, turn.end) == ("cancelled", "cancelled")
    assert not cancel_turn(turn.pk)
    assert [m.text for m in load_messages(session)] == ["Hello"]
    assert ask(session.conversation).status == "queued"


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_was_stopped_while_the_model_answered_writes_nothing_more(
    session, endpoint
):
    def stop(body):
        cancel_turn(Turn.objects.get().pk)
        connection.close()
        return says("Too late.")

    endpoint.play(stop)
    turn = play(session, "Hello")

    assert turn.status == "cancelled"
    assert [m.text for m in load_messages(session)] == ["Hello"]


@pytest.mark.django_db(transaction=True)
def test_of_many_presses_at_once_exactly_one_begins(endpoint):
    session = own_session()
    made, ready = [], threading.Barrier(8)

    def press(number):
        try:
            ready.wait()
            made.append(
                queue_turn(
                    session.conversation, TurnRequest(text="Hi", key=f"press-{number}")
                )
            )
        except TurnRefused as refused:
            made.append(refused.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert made.count("busy") == 7
    assert len(load_messages(session)) == 1


class TestStarts:
    """New conversations, and fresh ones that carry on a stuck one."""

    def test_a_new_conversation_can_be_talked_to(self, endpoint, operator):
        Endpoint.objects.update(window=64_000)
        new = NewConversation(title="Orchard", operator=operator)
        conversation = new_conversation(new)
        endpoint.play(says("Hello."))

        turn = play(conversation.tip, "Hi")

        assert turn.end == "completed"
        assert (conversation.title, conversation.window) == ("Orchard", 64_000)
        assert conversation.tip.system_tokens > 20

    def test_a_fresh_one_carries_task_state_memory_and_summary(
        self, endpoint, operator
    ):
        session = own_session(long_talk(turns=20), title="Orchard")
        stuck = session.conversation
        items = [{"id": "1", "subject": "Row 7"}]
        change_by_agent(stuck, lambda s: set_goal(write_todos(s, items), "Tidy."))
        add_memory(stuck, "The port is 8080.")
        run = run_session(session)
        stuck.refresh_from_db()
        before = list(Session.objects.filter(conversation=stuck).values())

        fresh = start_fresh(stuck, operator=operator)

        state = newest_task_version(fresh).state
        assert (state.goal, [t.subject for t in state.todos]) == ("Tidy.", ["Row 7"])
        assert [m.text for m in memories_in_force(fresh)] == ["The port is 8080."]
        assert fresh.memory_tokens > 0
        opening = load_messages(fresh.tip)
        assert [m.kind for m in opening] == [Kind.SUMMARY]
        summary = summary_in_force(run.result_session)
        assert summary.text in opening[0].text
        assert summary_in_force(fresh.tip).text == summary.text
        assert fresh.title == "Orchard #3"
        assert list(Session.objects.filter(conversation=stuck).values()) == before

        endpoint.play(says("On it."))
        assert play(fresh.tip, "Go on").end == "completed"

    def test_its_first_compaction_updates_the_carried_summary(self, endpoint):
        session = own_session(long_talk(turns=20))
        run_session(session)
        fresh = start_fresh(Conversation.objects.get(pk=session.conversation_id))
        first = summary_in_force(fresh.tip)

        play(fresh.tip, "x " * 12_000)
        run = run_session(fresh.tip)

        assert first is not None
        assert Run.objects.get(pk=run.pk).status == "completed"
