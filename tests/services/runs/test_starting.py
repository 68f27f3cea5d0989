"""Starting and stopping runs."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
import time_machine
from django.db import IntegrityError, OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from compaction import wiring
from compaction.engine.presets import DEFAULT
from compaction.engine.triggers import Trigger
from compaction.models import OperatorAction, Run, Session
from compaction.services.cooldowns import start_cooldown
from compaction.services.runs.starting import Refusal, RunRequest, cancel_run, queue_run
from compaction.store import plan_session
from tests.conversations import STARTED, long_work, store_session

POLICY = DEFAULT.evolve(context_length=32_000)
ASK = RunRequest(policy=POLICY)


def shown_plan(session, **options):
    return plan_session(
        session, POLICY, summariser_window=wiring.summariser_window(), **options
    ).plan


def continue_session(session, **values):
    return Session.objects.create(
        **{
            "id": f"{session.pk}-next",
            "conversation": session.conversation,
            "parent": session,
            "link": Session.Link.COMPACTION,
            "started_at": STARTED,
            **values,
        }
    )


@pytest.fixture
def session(db):
    return store_session(long_work())


def test_a_run_is_queued_with_what_it_was_planned_on(session, operator):
    plan = shown_plan(session, focus="names")
    queued = queue_run(
        session, RunRequest(policy=POLICY, operator=operator, focus="names")
    )

    run = queued.run
    assert queued.created
    assert queued.refusal is None
    assert (run.status, run.trigger) == ("queued", "manual")
    assert (run.plan_hash, run.session_revision) == (plan.digest, session.revision)
    assert (run.tokens_before, run.messages_before) == (session.tokens, 93)
    assert run.requested_by == operator
    session.conversation.refresh_from_db()
    assert session.conversation.run_count == 1


def test_the_press_is_recorded(session, operator):
    run = queue_run(session, RunRequest(policy=POLICY, operator=operator)).run

    action = OperatorAction.objects.get()
    assert (action.operator, action.verb) == (operator, "compact")
    assert action.target == f"run:{run.pk}"


def test_a_second_press_gets_the_first_run(session):
    first = queue_run(session, ASK)
    second = queue_run(session, ASK)

    assert not second.created
    assert second.refusal is Refusal.ALREADY_RUNNING
    assert second.run == first.run
    assert Run.objects.count() == 1


def test_after_a_run_ended_another_may_begin(session):
    first = queue_run(session, ASK).run
    Run.objects.update(status="failed")

    second = queue_run(session, ASK)
    assert second.created
    assert second.run != first


@pytest.mark.parametrize("link", ["compaction", "in_place"])
def test_a_session_that_goes_on_elsewhere_is_not_compacted_again(session, link):
    child = continue_session(session, link=link)
    session.conversation.tip = child
    session.conversation.save()

    queued = queue_run(session, ASK)
    assert queued.refusal is Refusal.ALREADY_DONE
    assert queued.tip == child
    assert queued.run is None
    assert not Run.objects.exists()


def test_a_branch_or_an_undone_child_does_not_stand_in_the_way(session):
    continue_session(session, link="branch", id="branch")
    continue_session(session, undone=True, id="undone")

    assert queue_run(session, ASK).created


def test_an_undone_session_is_left_alone(session):
    Session.objects.update(undone=True)

    assert queue_run(session, ASK).refusal is Refusal.ALREADY_DONE


def test_the_plan_that_was_shown_is_accepted(session):
    plan = shown_plan(session)
    ask = RunRequest(policy=POLICY, plan_hash=plan.digest, revision=session.revision)

    assert queue_run(session, ask).created


def test_a_plan_of_other_values_is_refused_as_stale(session):
    plan = shown_plan(session)
    other = POLICY.evolve(tail_ratio=0.1)

    queued = queue_run(session, RunRequest(policy=other, plan_hash=plan.digest))
    assert queued.refusal is Refusal.STALE_PLAN
    assert queued.run is None


def test_a_session_that_changed_since_the_plan_was_shown_is_refused_as_stale(session):
    ask = RunRequest(policy=POLICY, revision=session.revision)
    Session.objects.update(revision=session.revision + 1)

    assert queue_run(session, ask).refusal is Refusal.STALE_PLAN


def test_in_a_cooldown_a_person_is_told_and_no_row_is_made(session):
    cooldown = start_cooldown(session.conversation, seconds=60, reason="timeout")

    queued = queue_run(session, ASK)
    assert queued.refusal is Refusal.COOLDOWN
    assert queued.cooldown == cooldown
    assert queued.run is None


def test_an_operator_may_go_through_a_cooldown_and_it_is_recorded(session, operator):
    start_cooldown(session.conversation, seconds=60, reason="timeout")

    queued = queue_run(
        session, RunRequest(policy=POLICY, operator=operator, forced=True)
    )
    assert queued.created
    assert queued.run.forced
    assert OperatorAction.objects.get().verb == "force_compact"


def test_an_automatic_trigger_in_a_cooldown_leaves_one_row_per_cooldown(session):
    ask = RunRequest(policy=POLICY, trigger=Trigger.PREFLIGHT)
    start_cooldown(session.conversation, seconds=60, reason="timeout")

    first, second = queue_run(session, ask), queue_run(session, ask)
    assert first.refusal is second.refusal is Refusal.COOLDOWN
    assert first.run == second.run
    assert (first.run.status, first.run.outcome) == ("completed", "cooldown")
    assert first.run.reason == "timeout"

    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        start_cooldown(session.conversation, seconds=300, reason="rate_limit")
        assert queue_run(session, ask).run != first.run


@pytest.mark.parametrize("trigger", ["context_overflow", "payload_too_large"])
def test_an_agent_that_cannot_go_on_is_not_held_up_by_a_cooldown(session, trigger):
    start_cooldown(session.conversation, seconds=60, reason="timeout")

    assert queue_run(
        session, RunRequest(policy=POLICY, trigger=Trigger(trigger))
    ).created


def test_planning_a_run_reads_no_message_body(session):
    with CaptureQueriesContext(connection) as queries:
        queue_run(session, ASK)

    assert not [q for q in queries if '"compaction_message"."body"' in q["sql"]]


def test_a_queued_run_can_be_cancelled_once(session, operator):
    run = queue_run(session, ASK).run

    assert cancel_run(run.pk, operator=operator)
    assert not cancel_run(run.pk, operator=operator)
    run.refresh_from_db()
    assert run.status == "cancelled"
    assert run.finished_at is not None
    assert OperatorAction.objects.filter(verb="cancel_run").count() == 1


def test_the_database_itself_allows_one_active_run_and_one_continuation(session):
    values = {
        "session": session,
        "trigger": "manual",
        "session_revision": 1,
        "queued_at": timezone.now(),
    }
    queue_run(session, ASK)
    with pytest.raises(IntegrityError):
        Run.objects.create(idempotency_key="another", **values)


def test_the_database_itself_allows_one_continuation(session):
    continue_session(session, id="one")
    with pytest.raises(IntegrityError):
        continue_session(session, id="two")


@pytest.mark.django_db(transaction=True)
def test_fifty_presses_at_once_make_one_run():
    session = store_session(long_work(8))
    results, ready = [], threading.Barrier(50)

    def press() -> None:
        try:
            ready.wait()
            results.append(queue_run(session, ASK))
        finally:
            connection.close()

    threads = [threading.Thread(target=press) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 50
    assert Run.objects.count() == 1
    assert len({result.run.pk for result in results}) == 1
    assert len([result for result in results if result.created]) == 1


@pytest.mark.django_db(transaction=True)
def test_a_database_error_queues_nothing():
    session = store_session(long_work(2))

    def fail(execute, sql, *rest):
        if "compaction_run" in sql:
            raise OperationalError("the disk is gone")
        return execute(sql, *rest)

    with connection.execute_wrapper(fail), pytest.raises(OperationalError):
        queue_run(session, ASK)
    assert not Run.objects.exists()
