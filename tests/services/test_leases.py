"""Leases: one worker at a time, on any broker."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from datetime import timedelta

import pytest
import time_machine
from django.db import OperationalError, connection
from django.utils import timezone

from compaction.models import ImportJob
from compaction.services.heartbeat import keep_alive
from compaction.services.leases import (
    LeaseLost,
    claim,
    take_due,
    take_hopeless,
)


@dataclass(frozen=True)
class Terms:
    lease_seconds: float = 30.0
    max_attempts: int = 3
    resend_seconds: float = 5.0


TERMS = Terms()


def queue_job(**values):
    now = timezone.now()
    return ImportJob.objects.create(
        **{"label": "a.json", "path": "/a", "queued_at": now, "sent_at": now, **values}
    )


def later(seconds):
    return time_machine.travel(timezone.now() + timedelta(seconds=seconds), tick=True)


@pytest.fixture
def job(db):
    return queue_job()


def test_a_queued_row_is_claimed_once(job):
    lease = claim(ImportJob, job.pk, terms=TERMS)

    assert lease is not None
    assert lease.attempt == 1
    assert claim(ImportJob, job.pk, terms=TERMS) is None
    job.refresh_from_db()
    assert job.status == "in_progress"
    assert job.lease_until > timezone.now() + timedelta(seconds=25)


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_finished_row_is_never_claimed(db, status):
    job = queue_job(status=status, lease_until=timezone.now() - timedelta(days=1))

    assert claim(ImportJob, job.pk, terms=TERMS) is None


def test_a_row_that_does_not_exist_is_not_claimed(db):
    assert claim(ImportJob, "00000000-0000-0000-0000-000000000000", terms=TERMS) is None


def test_a_lease_that_ran_out_goes_to_the_next_worker_and_fences_off_the_first(job):
    first = claim(ImportJob, job.pk, terms=TERMS)
    with later(31):
        second = claim(ImportJob, job.pk, terms=TERMS)

        assert second.attempt == 2
        with pytest.raises(LeaseLost):
            first.renew()
        with pytest.raises(LeaseLost):
            first.finish(status="completed")
        second.finish(status="completed", messages_done=7)
    job.refresh_from_db()
    assert (job.status, job.messages_done, job.attempt) == ("completed", 7, 2)


def test_a_renewed_lease_is_not_claimed_when_the_first_one_would_have_ended(job):
    lease = claim(ImportJob, job.pk, terms=TERMS)
    with later(20):
        lease.renew(messages_done=3)
    with later(40):
        assert claim(ImportJob, job.pk, terms=TERMS) is None
    job.refresh_from_db()
    assert job.messages_done == 3


def test_a_cancelled_row_cannot_be_finished(job):
    lease = claim(ImportJob, job.pk, terms=TERMS)
    ImportJob.objects.update(status="cancelled")

    with pytest.raises(LeaseLost):
        lease.finish(status="completed")
    job.refresh_from_db()
    assert job.status == "cancelled"


def test_a_fresh_wake_up_is_not_sent_again(job):
    assert take_due(ImportJob, terms=TERMS) == []


def test_a_lost_wake_up_is_sent_again_once(job):
    with later(6):
        assert take_due(ImportJob, terms=TERMS) == [job.pk]
        assert take_due(ImportJob, terms=TERMS) == []


def test_a_row_that_waits_long_is_woken_ever_less_often(job):
    sent = []
    for second in range(1, 121):
        moment = job.queued_at + timedelta(seconds=second)
        with time_machine.travel(moment, tick=False):
            if take_due(ImportJob, terms=TERMS):
                sent.append(second)

    assert sent == [5, 10, 20, 40, 80]


def test_a_worker_that_died_is_noticed_when_its_lease_ran_out(job):
    claim(ImportJob, job.pk, terms=TERMS)
    with later(29):
        assert take_due(ImportJob, terms=TERMS) == []
    with later(31):
        assert take_due(ImportJob, terms=TERMS) == [job.pk]


def test_a_row_tried_too_often_is_given_up_and_not_claimed_again(job):
    for attempt in range(3):
        with later(31 * attempt):
            assert claim(ImportJob, job.pk, terms=TERMS) is not None
    with later(93):
        assert claim(ImportJob, job.pk, terms=TERMS) is None
        assert take_due(ImportJob, terms=TERMS) == []
        given_up = take_hopeless(ImportJob, terms=TERMS)
        assert take_hopeless(ImportJob, terms=TERMS) == []
        given_up[0].finish(status="failed", reason="gave_up")
    job.refresh_from_db()
    assert (job.status, job.reason) == ("failed", "gave_up")


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_at_once_exactly_one_claims_a_row():
    job = queue_job()
    leases, ready = [], threading.Barrier(12)

    def work() -> None:
        try:
            ready.wait()
            leases.append(claim(ImportJob, job.pk, terms=TERMS))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len([lease for lease in leases if lease]) == 1
    job.refresh_from_db()
    assert job.attempt == 1


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_read_the_row_before_another_claimed_it_gets_nothing():
    job = queue_job()
    rivals = []

    def claim_first() -> None:
        try:
            rivals.append(claim(ImportJob, job.pk, terms=TERMS))
        finally:
            connection.close()

    def be_late(execute, sql, *rest):
        if sql.startswith("UPDATE") and not rivals:
            rival = threading.Thread(target=claim_first)
            rival.start()
            rival.join()
        return execute(sql, *rest)

    with connection.execute_wrapper(be_late):
        late = claim(ImportJob, job.pk, terms=TERMS)

    assert late is None
    rivals[0].finish(status="completed")


@pytest.mark.django_db(transaction=True)
def test_a_database_error_is_never_taken_for_a_lease():
    job = queue_job()

    def fail(execute, sql, *rest):
        raise OperationalError("the disk is gone")

    with (
        connection.execute_wrapper(fail),
        pytest.raises(OperationalError),
    ):
        claim(ImportJob, job.pk, terms=TERMS)
    job.refresh_from_db()
    assert (job.status, job.attempt) == ("queued", 0)


@pytest.mark.django_db(transaction=True)
def test_a_pulse_keeps_a_lease_alive_while_the_worker_waits():
    job = queue_job()
    lease = claim(ImportJob, job.pk, terms=Terms(lease_seconds=0.6))

    with keep_alive(lease, limit=60):
        time.sleep(1.5)
        assert claim(ImportJob, job.pk, terms=TERMS) is None
    lease.finish(status="completed")


@pytest.mark.django_db(transaction=True)
def test_a_pulse_notices_that_the_row_was_cancelled():
    job = queue_job()
    lease = claim(ImportJob, job.pk, terms=Terms(lease_seconds=0.3))

    with keep_alive(lease, limit=60) as pulse:
        pulse.check()
        ImportJob.objects.update(status="cancelled")
        time.sleep(0.5)
        with pytest.raises(LeaseLost):
            pulse.check()


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_hangs_loses_its_row_in_the_end():
    job = queue_job()
    lease = claim(ImportJob, job.pk, terms=Terms(lease_seconds=0.3))

    with keep_alive(lease, limit=0.2):
        time.sleep(1.0)
        assert claim(ImportJob, job.pk, terms=TERMS) is not None
