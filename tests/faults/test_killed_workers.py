"""A real worker, killed for real at any point of a run: it ends exactly once.

The worker is a process of its own on the real broker and the real database; the test
plays the part of the clock that sends the sweeps.
"""

from __future__ import annotations

import os
import signal
import time

import pytest

from compaction import tasks
from compaction.models import Message, Run, Session, Summary
from compaction.services import crash_points
from compaction.services.runs.starting import RunRequest, cancel_run, queue_run
from compaction.store import load_messages
from tests.conversations import long_work, store_session
from tests.live import wait_for
from tests.server.replies import SUMMARY, Reply, broken
from tests.services.run_fixtures import POLICY

pytestmark = pytest.mark.django_db(transaction=True)

LEASE = 2.0
KILLED = -signal.SIGKILL


@pytest.fixture(autouse=True)
def short_lease(settings):
    settings.RUN_LEASE_SECONDS = LEASE


@pytest.fixture
def start_worker(workers, scripted_openai):
    """Start a worker with a short lease and the scripted summariser."""

    def start(**environ):
        return workers.start(
            RUN_LEASE_SECONDS=str(LEASE),
            SUMMARISER_BASE_URL=scripted_openai.base_url,
            SUMMARISER_MODEL="scripted",
            **environ,
        )

    return start


@pytest.fixture
def session(scripted_openai, settings):
    # The plan knows the summariser's window: this process must plan as workers do.
    settings.SUMMARISER_BASE_URL = scripted_openai.base_url
    return store_session(long_work())


def press(session):
    queued = tasks.start_run(session, RunRequest(policy=POLICY))
    assert queued.created
    return queued.run


def reload(run):
    return Run.objects.get(pk=run.pk)


def sweep_until_over(run, *, seconds=30):
    """Sweep as the clock does until the run is over; return it."""

    def look():
        tasks.sweep()
        time.sleep(0.3)
        return None if reload(run).is_active else reload(run)

    return wait_for(look, what=f"run over, not {reload(run).status}", seconds=seconds)


def sweep_until_dead(worker):
    """Sweep as the clock does until the worker took the run up and died of it."""

    def look():
        tasks.sweep()
        time.sleep(0.3)
        return worker.popen.poll() is not None

    wait_for(look, what="the worker died")


def assert_done_exactly_once(run, session):
    run = reload(run)
    children = Session.objects.filter(parent=session)
    child = children.get()
    assert (run.status, run.outcome) == ("completed", "summarised"), run.error
    assert run.result_session == child
    assert Summary.objects.filter(session=child).count() == 1
    positions = list(child.messages.values_list("position", flat=True))
    assert positions == list(range(run.messages_after))
    assert child.message_count == run.messages_after
    origins = [m.origin_position for m in child.messages.exclude(origin_position=None)]
    assert len(origins) == len(set(origins))
    assert load_messages(session) == long_work()
    stored = Message.objects.count()
    assert stored == session.message_count + child.message_count
    assert child.conversation.tip == child


@pytest.mark.parametrize(
    "point",
    [crash_points.BEFORE_CLAIM, crash_points.AFTER_CLAIM, crash_points.BEFORE_COMMIT],
)
def test_killed_before_anything_was_saved(session, start_worker, point):
    doomed = start_worker(HERMES_WEB_CRASH_POINT=point)
    run = press(session)
    wait_for(lambda: doomed.popen.poll() is not None, what="the worker died")
    assert doomed.popen.returncode == KILLED
    assert reload(run).is_active
    assert not Session.objects.filter(parent=session).exists()

    start_worker()
    over = sweep_until_over(run)
    assert_done_exactly_once(run, session)
    assert over.attempt == (1 if point == crash_points.BEFORE_CLAIM else 2)


def test_killed_after_the_commit_and_woken_again(session, start_worker):
    doomed = start_worker(HERMES_WEB_CRASH_POINT=crash_points.AFTER_COMMIT)
    run = press(session)
    wait_for(lambda: doomed.popen.poll() is not None, what="the worker died")
    assert doomed.popen.returncode == KILLED
    assert_done_exactly_once(run, session)

    rescue = start_worker()
    tasks.perform_run.delay(str(run.pk))  # a broker that delivers again
    wait_for(
        lambda: rescue.output().count("succeeded") >= 1, what="the message was taken"
    )
    assert_done_exactly_once(run, session)
    assert reload(run).attempt == 1


def test_killed_while_the_summary_streams(session, start_worker, scripted_openai):
    scripted_openai.play(broken("stall_stream", after=6, seconds=60))
    doomed = start_worker()
    run = press(session)
    wait_for(lambda: scripted_openai.requests, what="the model was asked")
    wait_for(lambda: reload(run).phase == "summarising", what="the row says so")
    doomed.kill()

    start_worker()
    over = sweep_until_over(run)
    assert_done_exactly_once(run, session)
    assert over.attempt == 2
    assert len(scripted_openai.requests) == 2


def test_a_long_silent_answer_does_not_lose_the_lease(
    session, start_worker, scripted_openai
):
    def think(body):
        time.sleep(3 * LEASE)
        return Reply(text=SUMMARY)

    scripted_openai.play(think)
    start_worker()
    run = press(session)
    over = sweep_until_over(run)

    assert_done_exactly_once(run, session)
    assert over.attempt == 1
    assert len(scripted_openai.requests) == 1


def test_a_worker_that_slept_past_its_lease_changes_nothing_when_it_wakes(
    session, start_worker, scripted_openai
):
    scripted_openai.play(broken("stall", seconds=60))
    sleeper = start_worker()
    run = press(session)
    wait_for(lambda: scripted_openai.requests, what="the model was asked")
    os.kill(sleeper.popen.pid, signal.SIGSTOP)
    start_worker()
    over = sweep_until_over(run)
    assert over.attempt == 2

    scripted_openai.released.set()
    os.kill(sleeper.popen.pid, signal.SIGCONT)
    wait_for(lambda: "taken over" in sleeper.output(), what="the sleeper noticed")
    assert_done_exactly_once(run, session)


def test_many_messages_and_two_workers_make_one_continuation(
    session, start_worker, scripted_openai
):
    run = queue_run(session, RunRequest(policy=POLICY)).run
    for _ in range(12):
        tasks.perform_run.delay(str(run.pk))
    first, second = start_worker(), start_worker()
    wait_for(
        lambda: (first.output() + second.output()).count("succeeded") >= 12,
        what="all messages were taken",
    )

    assert_done_exactly_once(run, session)
    assert reload(run).attempt == 1
    assert len(scripted_openai.requests) == 1


def test_a_lost_wake_up_is_sent_again(session, start_worker):
    run = queue_run(session, RunRequest(policy=POLICY)).run  # and no message
    start_worker()
    sweep_until_over(run)

    assert_done_exactly_once(run, session)


def test_a_run_that_kills_every_worker_is_given_up(session, start_worker, settings):
    settings.RUN_MAX_ATTEMPTS = 2
    run = press(session)
    for attempt in (1, 2):
        doomed = start_worker(HERMES_WEB_CRASH_POINT=crash_points.AFTER_CLAIM)
        sweep_until_dead(doomed)
        assert reload(run).attempt == attempt
    over = sweep_until_over(run)

    assert (over.status, over.outcome, over.reason) == ("failed", "aborted", "gave_up")
    assert not Session.objects.filter(parent=session).exists()
    assert load_messages(session) == long_work()


def test_a_cancelled_run_stops_while_the_summary_streams(
    session, start_worker, scripted_openai
):
    scripted_openai.play(Reply(text=SUMMARY * 40, delay=0.1))
    worker = start_worker()
    run = press(session)
    wait_for(lambda: run.chunks.exists(), what="text is shown")
    assert cancel_run(run.pk)
    wait_for(lambda: "taken over or cancelled" in worker.output(), what="it stopped")

    assert reload(run).status == "cancelled"
    assert not Session.objects.filter(parent=session).exists()


def test_progress_is_on_the_row_while_the_model_answers(
    session, start_worker, scripted_openai
):
    scripted_openai.play(Reply(text=SUMMARY, delay=0.1))
    start_worker()
    run = press(session)

    wait_for(lambda: reload(run).phase == "summarising", what="the phase is shown")
    wait_for(lambda: run.chunks.exists(), what="text is shown")
    assert reload(run).status == "in_progress"
    wait_for(lambda: not reload(run).is_active, what="the run is over")
    assert_done_exactly_once(run, session)
