"""The Overview."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from compaction.models import ImportJob, WorkerSign
from compaction.selectors.overview import overview
from compaction.services.sweeping import sweep
from tests.web.reading import HTMX, count_queries, text_of
from tests.web.rows import a_conversation
from tests.web.run_rows import (
    HOSTILE,
    a_cooldown,
    a_failed_run,
    a_run,
    a_session,
    an_ended_run,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def worker_sign() -> WorkerSign:
    """A worker that was heard of just now."""
    return WorkerSign.objects.create(pk=WorkerSign.ONLY, at=timezone.now())


def tone_of(code: str) -> str:
    checks = {check.code: check for check in overview(timezone.now()).checks}
    return checks[code].tone


def test_the_first_start_leads_an_operator_to_the_import(as_operator):
    page = as_operator.get("/")

    assert "No conversation yet" in text_of(page)
    assert 'href="/import/"' in page.content.decode()


def test_a_viewer_is_not_led_to_what_he_may_not_do(as_viewer):
    page = as_viewer.get("/")

    assert "An operator can import them." in text_of(page)
    assert "Import sessions" not in text_of(page)


def test_with_nothing_wrong_all_is_well(as_viewer):
    a_conversation()

    page = text_of(as_viewer.get("/"))

    assert "All is well" in page
    assert "No conversation is stuck." in page
    assert "No run failed in the last 24 hours." in page


@pytest.mark.parametrize(
    ("values", "code", "tone", "said"),
    [
        ({"state": "stuck"}, "stuck", "bad", "1 conversation cannot be made small"),
        ({"state": "over_threshold"}, "over", "warn", "1 conversation is over its"),
        ({"tokens": 85_000}, "near", "info", "1 conversation is near its threshold"),
    ],
)
def test_a_conversation_that_needs_somebody_is_named(
    as_viewer, values, code, tone, said
):
    a_conversation(title="Orchard", **values)

    page = text_of(as_viewer.get("/"))

    assert tone_of(code) == tone
    assert said in page
    assert "Orchard" in page


def test_far_below_the_threshold_is_not_near():
    a_conversation(tokens=79_999, threshold=100_000)

    assert tone_of("near") == "ok"


def test_a_cooldown_counts_until_its_end_and_not_after(as_viewer):
    cooldown = a_cooldown(a_session(title="Orchard").conversation)
    assert "1 conversation is in a cooldown" in text_of(as_viewer.get("/"))

    cooldown.until = timezone.now()
    cooldown.save()

    assert tone_of("cooldown") == "ok"


def test_the_second_compaction_is_warned_of_and_the_first_is_not():
    session = a_session()
    session.compactions = 1
    session.save()
    assert tone_of("repeated") == "ok"

    session.compactions = 2
    session.save()

    assert tone_of("repeated") == "warn"


def test_runs_that_failed_yesterday_count_and_older_ones_do_not(as_viewer):
    run = a_failed_run(reason="auth")
    assert "1 × key refused" in text_of(as_viewer.get("/"))

    run.finished_at = timezone.now() - timedelta(hours=25)
    run.save()

    assert tone_of("failed_runs") == "ok"


def test_a_queue_that_nobody_works_on_is_an_alarm(as_viewer):
    run = a_run()
    assert tone_of("queue") == "ok"

    run.queued_at = timezone.now() - timedelta(minutes=5)
    run.save()

    assert tone_of("queue") == "bad"
    assert "1 job waits and no worker takes it." in text_of(as_viewer.get("/"))


def test_a_run_whose_worker_went_silent_is_seen():
    now = timezone.now()
    run = a_run(status="in_progress", lease_until=now + timedelta(seconds=20))
    assert tone_of("leases") == "ok"

    run.lease_until = now - timedelta(seconds=1)
    run.save()

    assert tone_of("leases") == "warn"


def test_a_silent_worker_is_an_alarm_that_says_how_to_start_one(as_viewer, worker_sign):
    a_conversation()
    assert tone_of("worker") == "ok"

    worker_sign.at = timezone.now() - timedelta(minutes=2)
    worker_sign.save()

    assert tone_of("worker") == "bad"
    assert "celery --app hermes_web worker" in text_of(as_viewer.get("/"))


def test_a_sweep_is_a_sign_of_life(worker_sign):
    worker_sign.delete()
    assert tone_of("worker") == "bad"

    sweep()

    assert tone_of("worker") == "ok"


def test_a_failed_import_is_named(as_viewer):
    a_conversation()
    ImportJob.objects.create(
        label="broken.jsonl", path="x", status="failed", queued_at=timezone.now()
    )

    page = text_of(as_viewer.get("/"))

    assert "1 import failed in the last 7 days." in page
    assert "broken.jsonl" in page


def test_what_was_freed_is_added_up(as_viewer):
    an_ended_run(tokens_before=100_000, tokens_after=40_000)
    an_ended_run(tokens_before=50_000, tokens_after=40_000)

    page = text_of(as_viewer.get("/"))

    assert "70,000" in page
    assert "−40 %" in page


def test_a_run_whose_price_nobody_knows_is_counted_and_embedded_ones_are_free(
    as_viewer,
):
    an_ended_run(cost="0.25")
    an_ended_run(embedded=True)
    assert "price is unknown" not in text_of(as_viewer.get("/"))

    an_ended_run()

    page = text_of(as_viewer.get("/"))
    assert "$0.25" in page
    assert "runs whose price is unknown 1" in page


def test_a_stranger_finds_nothing(as_stranger):
    assert as_stranger.get("/").status_code == 404


def test_htmx_gets_the_part_that_changes(as_viewer):
    page = as_viewer.get("/", headers=HTMX).content.decode()

    assert page.lstrip().startswith('<div id="overview"')


def test_hostile_titles_are_shown_and_do_nothing(as_viewer):
    session = a_session(title=HOSTILE, state="stuck")
    a_cooldown(session.conversation)
    an_ended_run(session)

    page = as_viewer.get("/").content.decode()

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_more_rows_cost_no_more_queries(as_viewer):
    def fill() -> None:
        session = a_session(state="stuck")
        a_session(state="over_threshold")
        a_session(tokens=90_000)
        a_cooldown(session.conversation)
        an_ended_run(session)
        a_run(session)
        a_failed_run()

    fill()
    few = count_queries(as_viewer, "/")
    for _ in range(20):
        fill()

    assert count_queries(as_viewer, "/") == few
