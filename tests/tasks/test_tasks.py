"""Waking workers."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
import time_machine
from celery import Celery
from django.db import transaction
from django.utils import timezone

from compaction import tasks
from compaction.models import Run, Session
from compaction.services.runs.starting import Refusal, RunRequest, queue_run
from compaction.services.turns.starting import TurnRequest, queue_turn
from hermes_web.environment import broker_options
from tests.conversations import long_work, store_session
from tests.services.run_fixtures import POLICY
from tests.services.turn_fixtures import own_session, says

NOWHERE = "redis://127.0.0.1:9/0"
ASK = RunRequest(policy=POLICY)


@pytest.fixture
def session(db):
    return store_session(long_work())


def test_the_worker_is_woken_only_after_the_commit(
    session, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks() as waiting:
        queued = tasks.start_run(session, ASK)

    assert len(waiting) == 1
    assert queued.run.status == "queued"
    waiting[0]()
    queued.run.refresh_from_db()
    assert queued.run.outcome == "summarised"


def test_a_press_that_is_taken_back_wakes_nobody(transactional_db):
    session = store_session(long_work())
    with transaction.atomic():
        tasks.start_run(session, ASK)
        transaction.set_rollback(True)

    assert not Run.objects.exists()
    assert not Session.objects.filter(parent=session).exists()


def test_a_refused_press_wakes_nobody(session, django_capture_on_commit_callbacks):
    queue_run(session, ASK)
    with django_capture_on_commit_callbacks() as waiting:
        queued = tasks.start_run(session, ASK)

    assert queued.refusal is Refusal.ALREADY_RUNNING
    assert waiting == []


def test_without_a_broker_the_press_still_counts(
    session, monkeypatch, caplog, tmp_path, django_capture_on_commit_callbacks
):
    monkeypatch.delenv("CELERY_BROKER_URL", raising=False)  # Celery prefers it
    nowhere = Celery("nowhere", broker=NOWHERE, set_as_current=False)
    nowhere.conf.broker_transport_options = broker_options(NOWHERE, tmp_path)

    @nowhere.task
    def perform_run(run_id):
        """Never reached."""

    monkeypatch.setattr(tasks, "perform_run", perform_run)
    with (
        caplog.at_level(logging.WARNING, logger="compaction.tasks"),
        django_capture_on_commit_callbacks(execute=True),
    ):
        queued = tasks.start_run(session, ASK)

    assert queued.created
    assert "it waits" in caplog.text


def test_the_sweep_does_what_a_lost_message_should_have_done(session):
    run = queue_run(session, ASK).run
    tasks.sweep()
    run.refresh_from_db()
    assert run.status == "queued"  # its own message may still be on the way

    with time_machine.travel(timezone.now() + timedelta(seconds=6)):
        tasks.sweep()
    run.refresh_from_db()
    assert run.outcome == "summarised"


def test_a_message_wakes_a_worker_after_the_commit(
    endpoint, django_capture_on_commit_callbacks
):
    endpoint.play(says("Done."))
    conversation = own_session().conversation
    with django_capture_on_commit_callbacks() as waiting:
        turn = tasks.start_turn(conversation, TurnRequest(text="Go.", key="one"))

    assert turn.status == "queued"
    (send,) = waiting
    send()
    turn.refresh_from_db()
    assert turn.end == "completed"
    again = tasks.start_turn(conversation, TurnRequest(text="Go.", key="one"))
    assert again == turn


def test_the_sweep_takes_up_a_turn_whose_message_was_lost(endpoint):
    endpoint.play(says("Done."))
    turn = queue_turn(own_session().conversation, TurnRequest(text="Go.", key="one"))

    with time_machine.travel(timezone.now() + timedelta(seconds=6)):
        tasks.sweep()

    turn.refresh_from_db()
    assert turn.end == "completed"


def test_the_names_of_the_tasks_are_those_that_the_schedule_sends(settings):
    assert settings.CELERY_BEAT_SCHEDULE["sweep"]["task"] == tasks.sweep.name
