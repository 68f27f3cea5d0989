"""The list of runs, and the page of one."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from compaction.engine.phases.completion_check import SummaryFault
from compaction.engine.plan import Why
from compaction.engine.recovery.reasons import Reason
from compaction.models import OperatorAction, Run, RunChunk
from compaction.services.leases import GAVE_UP
from tests.web.reading import HTMX, count_queries, text_of
from tests.web.run_rows import (
    HOSTILE,
    a_cooldown,
    a_failed_run,
    a_fault,
    a_run,
    a_session,
    an_ended_run,
)

pytestmark = pytest.mark.django_db


def shown(client: Client, query: str = "") -> list[Run]:
    return list(client.get(f"/runs/{query}").context["runs"].page.rows)


class TestList:
    def test_a_viewer_sees_the_newest_run_first(self, as_viewer):
        older, newer = an_ended_run(), a_run()

        assert shown(as_viewer) == [newer, older]

    def test_a_stranger_finds_no_such_page(self, as_stranger):
        assert as_stranger.get("/runs/").status_code == 404

    def test_before_the_first_run_it_says_how_one_comes_about(self, as_viewer):
        assert "No run yet." in text_of(as_viewer.get("/runs/"))

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("?status=failed", {"failed"}),
            ("?outcome=summarised", {"completed"}),
            ("?trigger=context_overflow", {"queued"}),
            ("?status=no-such-status", {"failed", "completed", "queued"}),
        ],
    )
    def test_filters_narrow_and_nonsense_does_not(self, as_viewer, query, expected):
        a_failed_run()
        an_ended_run()
        a_run(trigger="context_overflow")

        assert {run.status for run in shown(as_viewer, query)} == expected

    def test_a_filter_that_finds_nothing_stays_in_sight(self, as_viewer):
        an_ended_run()

        response = as_viewer.get("/runs/?status=failed")

        assert "No run is like that." in text_of(response)
        assert 'aria-current="true"' in response.content.decode()

    def test_pages_follow_one_another_without_gap_or_repeat(self, as_viewer):
        session = a_session()
        made = {an_ended_run(session).pk for _ in range(120)}

        seen, query = [], ""
        while True:
            page = as_viewer.get(f"/runs/{query}").context["runs"].page
            seen += [run.pk for run in page.rows]
            if not page.next:
                break
            query = f"?after={page.next}"

        assert len(seen) == len(set(seen)) == 120
        assert set(seen) == made

    def test_the_largest_come_first_when_asked(self, as_viewer):
        small, large = an_ended_run(tokens_before=10), an_ended_run(tokens_before=99)

        assert shown(as_viewer, "?sort=-tokens") == [large, small]
        assert shown(as_viewer, "?sort=tokens") == [small, large]

    def test_htmx_gets_the_list_without_the_page_around_it(self, as_viewer):
        an_ended_run()

        response = as_viewer.get("/runs/", headers=HTMX)

        assert "<html" not in response.content.decode()
        assert 'id="run-list"' in response.content.decode()
        assert "HX-Request" in response["Vary"]

    def test_more_runs_cost_no_more_queries(self, as_viewer):
        an_ended_run()
        few = count_queries(as_viewer, "/runs/")
        for _ in range(30):
            an_ended_run()

        assert count_queries(as_viewer, "/runs/") == few


ENDED = [
    ("completed", "summarised", "", "became one summary"),
    ("completed", "pruned", "pruning_is_enough", "was enough"),
    ("completed", "noop", "below_threshold", "nothing to do"),
    ("completed", "stuck", "protected_parts_too_large", "cannot be made small"),
    ("completed", "stuck", "no_shrink", "made nothing smaller"),
    ("failed", "aborted", "rate_limit", "so nothing was changed"),
    ("failed", "aborted", "stale_plan", "The run failed; nothing was changed"),
    ("completed", "deferred", "open_call", "A tool call is still running"),
    ("completed", "cooldown", "rate_limit", "Skipped"),
    ("cancelled", "", "", "Cancelled; nothing was changed"),
    ("failed", "", "gave_up", "nothing was changed"),
]
REASONS = sorted(
    {
        *(reason.value for reason in Reason),
        *(fault.value for fault in SummaryFault),
        *(why.value for why in Why),
        *("superseded", "stale_plan", "no_shrink", "internal_error", GAVE_UP),
    }
)


class TestOne:
    @pytest.mark.parametrize(("status", "outcome", "reason", "said"), ENDED)
    def test_every_outcome_has_a_sentence(
        self, as_viewer, status, outcome, reason, said
    ):
        run = an_ended_run(status=status, outcome=outcome, reason=reason)

        assert said in text_of(as_viewer.get(f"/runs/{run.pk}/"))

    @pytest.mark.parametrize("reason", REASONS)
    def test_every_reason_has_words_of_its_own(self, as_viewer, reason):
        run = a_failed_run(reason=reason)

        page = text_of(as_viewer.get(f"/runs/{run.pk}/"))
        row = text_of(as_viewer.get("/runs/"))

        assert "The reason is called" not in page
        assert "No reason was noted" not in page
        if "_" in reason:
            assert reason not in row

    def test_a_failed_run_says_what_came_back_and_until_when_it_waits(self, as_viewer):
        run = a_failed_run(error="Too many requests", error_status=429)
        a_cooldown(run.session.conversation, run=run)
        a_fault(run.session, run=run)

        page = text_of(as_viewer.get(f"/runs/{run.pk}/"))

        assert "HTTP 429" in page
        assert "Too many requests" in page
        assert "2th failure" not in page
        assert "until" in page

    def test_a_run_that_nobody_takes_says_how_to_start_a_worker(self, as_viewer):
        run = a_run(queued_at=an_ended_run().started_at)

        assert "No worker has taken it" in text_of(as_viewer.get(f"/runs/{run.pk}/"))

    def test_a_run_taken_over_says_so(self, as_viewer):
        run = a_run(status="in_progress", phase="summarising", attempt=2)

        assert "attempt 2" in text_of(as_viewer.get(f"/runs/{run.pk}/"))

    def test_streamed_text_of_the_newest_attempt_is_shown(self, as_viewer):
        run = a_run(status="in_progress", phase="summarising", attempt=2)
        for attempt, seq, text in ((1, 1, "old"), (2, 1, "## Goal\n"), (2, 2, "new")):
            RunChunk.objects.create(run=run, attempt=attempt, seq=seq, text=text)

        page = as_viewer.get(f"/runs/{run.pk}/").content.decode()

        assert "## Goal\nnew" in page
        assert ">old" not in page

    @pytest.mark.parametrize(("text", "shown"), [("## Goal", True), (" \n ", False)])
    def test_what_a_failed_run_received_is_shown_when_it_says_something(
        self, as_viewer, text, shown
    ):
        run = a_failed_run()
        RunChunk.objects.create(run=run, attempt=run.attempt, seq=1, text=text)

        page = text_of(as_viewer.get(f"/runs/{run.pk}/"))

        assert ("What had arrived" in page) is shown

    def test_hostile_text_is_shown_and_does_nothing(self, as_viewer):
        session = a_session(title=HOSTILE)
        run = a_failed_run(session, error=HOSTILE, prompt=HOSTILE, focus=HOSTILE)
        active = a_run(session, status="in_progress", attempt=1)
        for one in (run, active):
            RunChunk.objects.create(run=one, attempt=1, seq=1, text=HOSTILE)

        for address in (f"/runs/{run.pk}/", f"/runs/{active.pk}/", "/runs/"):
            page = as_viewer.get(address).content.decode()
            assert "<script>alert" not in page
            assert "&lt;script&gt;alert" in page
            assert "\u202e" not in page

    def test_an_unknown_run_is_not_found(self, as_viewer):
        assert as_viewer.get(f"/runs/{uuid.uuid4()}/").status_code == 404

    def test_a_stranger_does_not_find_a_run(self, as_stranger):
        run = a_run()

        for part in ("", "progress/"):
            address = f"/runs/{run.pk}/{part}"
            assert as_stranger.get(address).status_code == 404

    def test_on_another_page_the_end_of_a_run_leads_to_its_own(self, as_viewer):
        active, ended = a_run(status="in_progress", phase="planning"), an_ended_run()
        elsewhere = {**HTMX, "HX-Current-URL": "http://testserver/sessions/x/?at=3"}

        for run, page in ((active, ""), (ended, f"/runs/{ended.pk}/")):
            answer = as_viewer.get(f"/runs/{run.pk}/progress/", headers=elsewhere)
            assert answer.headers.get("HX-Redirect", "") == page
        at_home = {**HTMX, "HX-Current-URL": f"http://testserver/runs/{ended.pk}/"}
        answer = as_viewer.get(f"/runs/{ended.pk}/progress/", headers=at_home)
        assert "HX-Redirect" not in answer.headers

    def test_progress_is_asked_for_again_only_while_it_is_active(self, as_viewer):
        active, ended = a_run(status="in_progress", phase="planning"), an_ended_run()

        def asks(run: Run) -> bool:
            address = f"/runs/{run.pk}/progress/"
            response = as_viewer.get(address, headers=HTMX)
            return "every 2s" in response.content.decode()

        assert asks(active)
        assert not asks(ended)

    def test_without_scripts_there_is_a_link_to_look_again_until_the_end(
        self, as_viewer
    ):
        active, ended = a_run(), an_ended_run()

        def offers(run: Run) -> bool:
            page = as_viewer.get(f"/runs/{run.pk}/").content.decode()
            link = f'<noscript><a class="button" href="/runs/{run.pk}/">Reload</a>'
            return link in page

        assert offers(active)
        assert not offers(ended)


class TestCancel:
    def test_an_operator_cancels_a_run(self, as_operator):
        run = a_run()

        response = as_operator.post(f"/runs/{run.pk}/cancel/")

        assert response["Location"] == f"/runs/{run.pk}/"
        run.refresh_from_db()
        assert run.status == "cancelled"
        assert OperatorAction.objects.get().verb == "cancel_run"

    def test_a_run_that_has_ended_stays_as_it_is(self, as_operator):
        run = an_ended_run()

        page = as_operator.post(f"/runs/{run.pk}/cancel/", follow=True)

        run.refresh_from_db()
        assert run.status == "completed"
        assert "had already ended" in text_of(page)

    def test_a_viewer_may_not_and_sees_no_button(self, as_viewer):
        run = a_run()

        assert as_viewer.post(f"/runs/{run.pk}/cancel/").status_code == 403
        assert "Cancel the run" not in text_of(as_viewer.get(f"/runs/{run.pk}/"))

    def test_a_link_cancels_nothing(self, as_operator):
        run = a_run()

        assert as_operator.get(f"/runs/{run.pk}/cancel/").status_code == 405


class TestSteps:
    def test_each_phase_that_was_passed_shows_how_long_it_took(self, as_viewer):
        noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
        after = [0.5, 2.5, 30.5, 32.0]  # seconds after noon at which a phase began
        run = an_ended_run(
            queued_at=noon,
            started_at=noon,
            finished_at=noon + timedelta(seconds=40),
            phase_started={
                phase.value: (noon + timedelta(seconds=seconds)).isoformat()
                for phase, seconds in zip(Run.Phase, after, strict=True)
            },
        )

        steps = as_viewer.get(f"/runs/{run.pk}/").context["steps"]

        assert [step.took for step in steps] == [0.0, 2.0, 28.0, 1.5, 8.0]

    def test_a_run_of_an_older_version_shows_no_times_it_does_not_know(self, as_viewer):
        run = an_ended_run()

        steps = as_viewer.get(f"/runs/{run.pk}/").context["steps"]

        assert [step.took for step in steps[1:]] == [None] * len(Run.Phase)
