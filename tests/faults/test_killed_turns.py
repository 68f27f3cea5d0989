"""A real worker, killed for real at any step of a turn: no call twice, nothing lost.

The worker is a process of its own on the real broker and the real database; the model
answers over real HTTP by what it is shown, so that an attempt may ask again.
"""

from __future__ import annotations

import os
import signal
import time

import pytest

from compaction import tasks
from compaction.engine.loop import INTERRUPTED
from compaction.models import MemoryItem, RecoveryEvent, Run, Turn
from compaction.services import crash_points
from compaction.services.turns.starting import TurnRequest, cancel_turn
from compaction.store import load_messages, load_outline
from tests.conversations import long_talk
from tests.live import wait_for
from tests.server.replies import Reply, broken, failure, tool_call
from tests.services.turn_fixtures import own_session, says

pytestmark = pytest.mark.django_db(transaction=True)

LEASE = 2.0
KILLED = -signal.SIGKILL


@pytest.fixture(autouse=True)
def short_lease(settings):
    settings.RUN_LEASE_SECONDS = LEASE


@pytest.fixture
def start_worker(workers, endpoint):
    """Start a worker with a short lease and the scripted endpoint."""

    def start(**environ):
        return workers.start(
            RUN_LEASE_SECONDS=str(LEASE),
            OPENAI_BASE_URL=endpoint.base_url,
            OPENAI_MODEL="scripted",
            **environ,
        )

    return start


def work(body):
    """Remember one thing, then say so: an agent that goes by what it is shown."""
    if body["messages"][-1]["role"] == "tool":
        return says("All done.")
    made = tool_call("memory_write", '{"text": "The port is 8080."}', "call_1")
    return Reply(tool_calls=(made,), finish_reason="tool_calls")


@pytest.fixture
def session(endpoint):
    endpoint.always(work)
    return own_session()


def press(session, text="Go on."):
    request = TurnRequest(text=text, key="press")
    return tasks.start_turn(session.conversation, request)


def reload(turn):
    return Turn.objects.get(pk=turn.pk)


def sweep_until_over(turn, *, seconds=40):
    """Sweep as the clock does until the turn is over; return it."""

    def look():
        tasks.sweep()
        time.sleep(0.3)
        return None if reload(turn).is_active else reload(turn)

    return wait_for(look, what=f"turn over, not {reload(turn).step}", seconds=seconds)


def wait_for_death(worker):
    wait_for(lambda: worker.popen.poll() is not None, what="the worker died")
    assert worker.popen.returncode == KILLED


def assert_whole(turn, session):
    """The conversation holds every message once, in order, and its sizes are true."""
    assert (turn.status, turn.end) == ("completed", "completed"), turn.error
    said = load_messages(session)
    assert [m.role.value for m in said] == ["user", "assistant", "tool", "assistant"]
    assert [m.text for m in (said[0], said[3])] == ["Go on.", "All done."]
    positions = list(session.messages.values_list("position", flat=True))
    assert positions == [0, 1, 2, 3]
    session.refresh_from_db()
    assert session.message_count == 4
    assert session.tokens == load_outline(session).tokens
    assert turn.calls.count() == 1
    assert turn.calls.get().ended_at is not None
    numbers = list(turn.chunks.values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    return said[2].text


RUN_ONCE = "Remembered as number 1."


@pytest.mark.parametrize(
    ("point", "result", "memories"),
    [
        (crash_points.BEFORE_TURN_CLAIM, RUN_ONCE, 1),
        (crash_points.AFTER_TURN_CLAIM, RUN_ONCE, 1),
        (crash_points.BEFORE_ANSWER, RUN_ONCE, 1),
        (crash_points.AFTER_ANSWER, RUN_ONCE, 1),
        (crash_points.AFTER_BEGIN_CALL, INTERRUPTED, 0),
        (crash_points.BEFORE_RESULT, INTERRUPTED, 1),
        (crash_points.AFTER_RESULT, RUN_ONCE, 1),
        (f"{crash_points.BEFORE_ANSWER}:2", RUN_ONCE, 1),
        (f"{crash_points.AFTER_ANSWER}:2", RUN_ONCE, 1),
        (crash_points.BEFORE_TURN_END, RUN_ONCE, 1),
    ],
)
def test_killed_at_any_step(session, start_worker, point, result, memories):
    doomed = start_worker(HERMES_WEB_CRASH_POINT=point)
    turn = press(session)
    wait_for_death(doomed)
    assert reload(turn).is_active

    start_worker()
    over = sweep_until_over(turn)

    assert assert_whole(over, session) == result
    assert MemoryItem.objects.count() == memories
    attempt = 1 if point == crash_points.BEFORE_TURN_CLAIM else 2
    assert over.attempt == attempt
    kinds = list(RecoveryEvent.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == said_on_the_timeline(point, attempt, result)


def said_on_the_timeline(point, attempt, result):
    if point in (f"{crash_points.AFTER_ANSWER}:2", crash_points.BEFORE_TURN_END):
        return []  # its last answer was stored: nothing was left to do
    interrupted = ["interrupted"] if result == INTERRUPTED else []
    return ["resumed"] * (attempt - 1) + interrupted


def test_killed_after_the_end_and_woken_again(session, start_worker, endpoint):
    doomed = start_worker(HERMES_WEB_CRASH_POINT=crash_points.AFTER_TURN_END)
    turn = press(session)
    wait_for_death(doomed)
    assert_whole(reload(turn), session)

    rescue = start_worker()
    tasks.perform_turn.delay(str(turn.pk))  # a broker that delivers again
    wait_for(lambda: "succeeded" in rescue.output(), what="the message was taken")

    assert assert_whole(reload(turn), session) == RUN_ONCE
    assert len(endpoint.requests) == 2


def test_killed_while_an_answer_streams(session, start_worker, endpoint):
    endpoint.play(broken("stall_stream", after=6, seconds=60))
    doomed = start_worker()
    turn = press(session)
    wait_for(lambda: endpoint.requests, what="the model was asked")
    doomed.kill()

    start_worker()
    over = sweep_until_over(turn)

    assert_whole(over, session)
    assert over.attempt == 2


@pytest.mark.parametrize(
    "point", [crash_points.BEFORE_TURN_RUN, crash_points.AFTER_TURN_RUN]
)
def test_killed_around_a_compaction(endpoint, start_worker, point):
    session = own_session(long_talk(turns=60))
    before = load_messages(session)
    endpoint.always(says("Done."))
    doomed = start_worker(HERMES_WEB_CRASH_POINT=point)
    turn = press(session)
    wait_for_death(doomed)

    start_worker()
    over = sweep_until_over(turn)

    assert over.end == "completed"
    done = Run.objects.filter(turn=turn, status="completed", outcome="summarised")
    assert done.count() == 1, list(Run.objects.values())
    assert not Run.objects.filter(status__in=["queued", "in_progress"]).exists()
    child = done.get().result_session
    assert [m.text for m in load_messages(child)[-2:]] == ["Go on.", "Done."]
    assert load_messages(session)[:-1] == before
    assert over.conversation.tip == child


def test_a_worker_that_slept_past_its_lease_writes_nothing_when_it_wakes(
    session, start_worker, endpoint
):
    endpoint.play(broken("stall", seconds=60))
    sleeper = start_worker()
    turn = press(session)
    wait_for(lambda: endpoint.requests, what="the model was asked")
    os.kill(sleeper.popen.pid, signal.SIGSTOP)
    start_worker()
    over = sweep_until_over(turn)
    assert over.attempt == 2

    endpoint.released.set()
    os.kill(sleeper.popen.pid, signal.SIGCONT)
    wait_for(lambda: "taken over" in sleeper.output(), what="the sleeper noticed")
    assert_whole(reload(turn), session)


def test_a_stop_ends_a_wait_within_a_second(session, start_worker, endpoint):
    endpoint.always(failure(429, message="Rate limit reached", retry_after=600))
    worker = start_worker()
    turn = press(session)
    wait_for(lambda: reload(turn).step == "waiting", what="it waits")
    assert reload(turn).wait_until is not None

    stopped_at = time.monotonic()
    assert cancel_turn(turn.pk)
    wait_for(lambda: "stopped or taken over" in worker.output(), what="it stopped")

    assert time.monotonic() - stopped_at < 300  # of the 600 that it was told
    assert reload(turn).status == "cancelled"
    assert [m.text for m in load_messages(session)] == ["Go on."]
    assert len(endpoint.requests) == 1


def test_a_turn_that_kills_every_worker_is_given_up(session, start_worker, settings):
    settings.RUN_MAX_ATTEMPTS = 2
    turn = press(session)
    for attempt in (1, 2):
        doomed = start_worker(HERMES_WEB_CRASH_POINT=crash_points.AFTER_TURN_CLAIM)

        def look(doomed=doomed):
            tasks.sweep()
            time.sleep(0.3)
            return doomed.popen.poll() is not None

        wait_for(look, what="the worker died")
        assert reload(turn).attempt == attempt
    over = sweep_until_over(turn)

    assert (over.status, over.end) == ("failed", "gave_up")
    assert [m.text for m in load_messages(session)] == ["Go on."]
