"""A real worker, killed for real at any point of an import: nothing is half there."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from compaction import tasks
from compaction.models import Conversation, ImportJob, Message
from compaction.services import crash_points
from compaction.services.imports.jobs import queue_upload
from tests.live import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

LEASE = 2.0
TALK = [
    {"role": "user" if n % 2 == 0 else "assistant", "content": f"message {n}"}
    for n in range(40)
]


@pytest.fixture(autouse=True)
def short_lease(settings):
    settings.RUN_LEASE_SECONDS = LEASE


@pytest.fixture
def job(transactional_db):
    """An upload that is queued, and whose wake-up nobody has heard."""
    raw = json.dumps({"messages": TALK}).encode()
    return queue_upload([raw], label="talk.json", operator=None)


def sweep_until(condition, *, what):
    def look():
        tasks.sweep()
        time.sleep(0.3)
        return condition()

    wait_for(look, what=what, seconds=40)


def is_over(job):
    return not ImportJob.objects.get(pk=job.pk).is_active


@pytest.mark.parametrize(
    "point",
    [
        crash_points.BEFORE_CLAIM,
        crash_points.AFTER_CLAIM,
        crash_points.BEFORE_COMMIT,
        crash_points.AFTER_COMMIT,
    ],
)
def test_another_worker_ends_what_a_killed_one_began(job, workers, settings, point):
    settings.RUN_LEASE_SECONDS = LEASE
    lease = {"RUN_LEASE_SECONDS": str(LEASE)}
    dying = workers.start(HERMES_WEB_CRASH_POINT=point, **lease)
    sweep_until(lambda: dying.popen.poll() is not None, what="the worker died")
    assert dying.popen.returncode == -signal.SIGKILL
    assert Message.objects.count() in (0, len(TALK))

    workers.start(**lease)
    sweep_until(lambda: is_over(job), what="the import is over")

    job.refresh_from_db()
    assert job.status == "completed", job.error
    assert job.conversations_done == 1
    texts = Message.objects.order_by("position").values_list("text", flat=True)
    assert list(texts) == [message["content"] for message in TALK]
    assert Conversation.objects.get().message_count == len(TALK)
    assert not Path(job.path).exists()


def test_an_import_that_kills_every_worker_is_given_up(job, workers, settings):
    settings.RUN_MAX_ATTEMPTS = 1
    dying = workers.start(
        HERMES_WEB_CRASH_POINT=crash_points.AFTER_CLAIM,
        RUN_LEASE_SECONDS=str(LEASE),
        RUN_MAX_ATTEMPTS="1",
    )
    sweep_until(lambda: dying.popen.poll() is not None, what="the worker died")
    sweep_until(lambda: is_over(job), what="the import is over")

    job.refresh_from_db()
    assert (job.status, job.reason) == ("failed", "gave_up")
    assert not Message.objects.exists()
    assert not Path(job.path).exists()
