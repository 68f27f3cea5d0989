"""What was streamed goes a week after its run ended."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from compaction.models import RunChunk
from compaction.services.purging import KEPT_FOR, purge_streams
from compaction.services.sweeping import sweep
from tests.web.run_rows import a_run, an_ended_run

pytestmark = pytest.mark.django_db


def streamed(run, pieces: int = 3):
    for number in range(pieces):
        RunChunk.objects.create(run=run, attempt=1, seq=number + 1, text="said ")
    return run


def ended(ago: timedelta):
    return streamed(an_ended_run(finished_at=timezone.now() - ago))


def test_the_pieces_of_a_run_go_when_it_ended_longer_ago_than_they_are_kept():
    ended(KEPT_FOR + timedelta(minutes=1))

    assert purge_streams() == 3
    assert not RunChunk.objects.exists()


def test_the_pieces_of_a_younger_run_and_of_one_in_progress_stay():
    ended(KEPT_FOR - timedelta(minutes=1))
    streamed(a_run(status="in_progress", started_at=timezone.now() - 2 * KEPT_FOR))

    assert purge_streams() == 0
    assert RunChunk.objects.count() == 6


def test_the_sweeper_does_it():
    ended(2 * KEPT_FOR)
    sweep()

    assert not RunChunk.objects.exists()
