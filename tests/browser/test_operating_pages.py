"""Overview, Runs, Summaries, TaskState, Timeline, Policies, Import, in Chromium."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import ConsoleMessage, Page, expect

from compaction.engine.task_state import TaskState, Todo, TodoStatus
from compaction.models import ImportJob, PolicyProfile, Run, RunChunk, Session
from compaction.services.audit import Change, record_action
from compaction.services.sign_in import issue_sign_in_token
from compaction.services.summaries import SummaryEdit, edit_summary
from compaction.services.task_states import save_task_state
from compaction.store.task_states import newest_task_version
from tests.browser.accessibility import faults_in_every_look
from tests.live import Console
from tests.web.run_rows import (
    HOSTILE,
    a_cooldown,
    a_failed_run,
    a_fault,
    a_run,
    a_session,
    an_ended_run,
)
from tests.web.test_summaries import a_summarised_session

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

EXPECTED = re.compile(r"status of (409|410|422)")
STATE = TaskState(
    goal="Read every file",
    todos=(
        Todo(id="1", subject="first", status=TodoStatus.COMPLETED),
        Todo(id="2", subject="second", status=TodoStatus.IN_PROGRESS),
        Todo(id="3", subject="third"),
    ),
)


@pytest.fixture
def complaints(page: Page):
    """What the console of the browser says; a test ends without any."""
    heard: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        # Chromium reports an expected refusal as it reports a broken page.
        is_expected = EXPECTED.search(message.text)
        if message.type in ("error", "warning") and not is_expected:
            heard.append(message.text)

    page.on("console", hear)
    yield heard
    assert heard == []


@pytest.fixture
def as_admin(console: Console, page: Page, admin, complaints) -> Console:
    """The console, with an admin at the browser."""
    console.sign_in(page.context, admin)
    return console


@pytest.fixture
def eventful(transactional_db, operator) -> Session:
    """A conversation that lived through everything."""
    session = a_summarised_session(title="Fix the loop 旅行计划")
    state = session.conversation
    an_ended_run(session, ledger=[{"n": 0, "region": "head", "tokens": 9, "after": 9}])
    run = a_failed_run(session, error=HOSTILE, error_status=429, prompt=HOSTILE)
    a_cooldown(state)
    a_fault(session, run=run, detail=HOSTILE)
    record_action(operator, "set_policy", session, change=Change(reason="long job"))
    save_task_state(state, STATE, base_version=0, operator=operator)
    edit_summary(
        session,
        SummaryEdit(text="## Goal\n- Other.", base_revision=2, reason="x"),
        operator=operator,
    )
    return session


# --- every page, both themes, wide and narrow ---------------------------------
class TestLook:
    def test_the_first_start_has_no_fault(self, as_admin, page):
        page.goto(as_admin.url("/"))

        assert faults_in_every_look(page) == []

    def test_an_overview_full_of_alarms_has_no_fault(self, as_admin, page, eventful):
        a_session(state="stuck", tokens=190_000)
        a_session(state="over_threshold")
        a_session(tokens=90_000)
        a_run(queued_at=timezone.now() - timedelta(hours=1))

        page.goto(as_admin.url("/"))

        assert faults_in_every_look(page) == []

    def test_the_runs_have_no_fault(self, as_admin, page, eventful):
        a_run()
        page.goto(as_admin.url("/runs/"))
        assert faults_in_every_look(page) == []

        page.goto(as_admin.url("/runs/?outcome=stuck"))
        assert faults_in_every_look(page) == []

    def test_a_run_has_no_fault_however_it_ended(self, as_admin, page, eventful):
        made = [
            *Run.objects.all(),
            a_run(),
            an_ended_run(outcome="stuck", reason="protected_parts_too_large"),
            an_ended_run(status="cancelled", outcome=""),
        ]
        for run in made:
            page.goto(as_admin.url(f"/runs/{run.pk}/"))
            assert faults_in_every_look(page) == [], run.outcome

    @pytest.mark.parametrize(
        "tab",
        ["summaries/", "summaries/edit/", "task/", "timeline/", "policy/"],
    )
    def test_a_page_of_a_session_has_no_fault(self, as_admin, page, eventful, tab):
        page.goto(as_admin.url(f"/sessions/{eventful.pk}/{tab}"))

        assert faults_in_every_look(page) == []

    @pytest.mark.parametrize("tab", ["summaries/", "task/", "timeline/", "turn/"])
    def test_an_empty_page_has_no_fault(self, as_admin, page, tab):
        page.goto(as_admin.url(f"/sessions/{a_session().pk}/{tab}"))

        assert faults_in_every_look(page) == []

    def test_policies_have_no_fault(self, as_admin, page):
        PolicyProfile.objects.create(name="long-jobs", overrides={"min_tail": 9})

        for place in ("", "new/", "profiles/long-jobs/", "profiles/long-jobs/delete/"):
            page.goto(as_admin.url(f"/policies/{place}"))
            assert faults_in_every_look(page) == [], place

    def test_imports_have_no_fault(self, as_admin, page):
        page.goto(as_admin.url("/import/"))
        assert faults_in_every_look(page) == []

        now = timezone.now()
        for status in ImportJob.Status.values:
            ImportJob.objects.create(
                label=f"{status}.jsonl",
                path="x",
                status=status,
                reason="broken" if status == "failed" else "",
                error=HOSTILE,
                error_line=3,
                queued_at=now,
                lease_until=now + timedelta(hours=1),
            )
        page.goto(as_admin.url("/import/"))
        assert faults_in_every_look(page) == []

    def test_sign_in_pages_have_no_fault(self, console, page, complaints, viewer):
        token = issue_sign_in_token(viewer)

        for place in ("/sign-in/", f"/sign-in/{token}/", "/sign-in/unknown/"):
            page.goto(console.url(place))
            assert faults_in_every_look(page) == [], place


# --- what people do -------------------------------------------------------------
def test_a_link_signs_in_by_its_button_and_signing_out_says_so(
    console, page, complaints, operator
):
    page.goto(console.url(f"/sign-in/{issue_sign_in_token(operator)}/"))
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(console.url("/"))

    page.get_by_role("button", name="Sign out").click()

    expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()


class TestTaskState:
    def open(self, console: Console, page: Page) -> Session:
        session = a_session()
        save_task_state(session.conversation, STATE, base_version=0, operator=None)
        page.goto(console.url(f"/sessions/{session.pk}/task/"))
        return session

    def subjects(self, page: Page) -> list[str]:
        fields = page.locator("input[name=todo_subject]")
        return [fields.nth(n).input_value() for n in range(fields.count())]

    def test_todos_are_reordered_by_keyboard_alone(self, as_admin, page):
        session = self.open(as_admin, page)
        page.get_by_role("button", name="Move todo 1 down").focus()

        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Move todo 2 down")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Move todo 3 up")).to_be_focused()

        assert self.subjects(page) == ["second", "third", "first"]
        expect(page.get_by_text("not saved yet")).to_be_visible()
        assert newest_task_version(session.conversation).version == 1

        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("saved as version 2")).to_be_visible()
        state = newest_task_version(session.conversation).state
        assert [todo.subject for todo in state.todos] == ["second", "third", "first"]

    def test_an_added_todo_is_ready_to_be_written(self, as_admin, page):
        session = self.open(as_admin, page)

        page.get_by_role("button", name="Add a todo").click()
        expect(page.get_by_label("Text of todo 4")).to_be_focused()
        page.keyboard.type("fourth")
        page.keyboard.press("Enter")

        expect(page.get_by_text("saved as version 2")).to_be_visible()
        assert newest_task_version(session.conversation).state.todos[3].subject == (
            "fourth"
        )

    def test_two_who_edit_at_once_choose_and_lose_nothing(self, as_admin, page):
        session = self.open(as_admin, page)
        other = TaskState(goal="Theirs", todos=STATE.todos[:2])
        save_task_state(session.conversation, other, base_version=1, operator=None)

        page.get_by_label("Goal", exact=True).fill("Mine")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("both changed it: choose")).to_be_visible()
        assert faults_in_every_look(page) == []

        page.get_by_label("yours Mine").check()
        page.get_by_role("button", name="Save what is chosen").click()

        expect(page.get_by_text("saved as version 3")).to_be_visible()
        state = newest_task_version(session.conversation).state
        assert state.goal == "Mine"
        assert [todo.subject for todo in state.todos] == ["first", "second"]

    def test_one_endless_word_does_not_widen_the_choice(self, as_admin, page):
        session, endless = a_session(), (Todo(id="1", subject="x" * 1_000),)
        for version, goal in enumerate(("Before", "Theirs")):
            state = TaskState(goal=goal, todos=endless)
            save_task_state(
                session.conversation, state, base_version=version, operator=None
            )
            if not version:
                page.goto(as_admin.url(f"/sessions/{session.pk}/task/"))

        page.get_by_label("Goal", exact=True).fill("Mine")
        page.get_by_role("button", name="Save", exact=True).click()

        expect(page.get_by_text("both changed it: choose")).to_be_visible()
        assert faults_in_every_look(page) == []

    def test_it_works_without_scripts(self, as_admin, chromium, admin):
        context = chromium.new_context(java_script_enabled=False)
        as_admin.sign_in(context, admin)
        page = context.new_page()
        session = self.open(as_admin, page)

        page.get_by_role("button", name="Move todo 1 down").click()
        assert self.subjects(page) == ["second", "first", "third"]
        page.get_by_role("button", name="Save", exact=True).click()

        expect(page.get_by_text("saved as version 2")).to_be_visible()
        state = newest_task_version(session.conversation).state
        assert state.todos[0].subject == "second"
        context.close()


class TestSummaries:
    def test_a_dropped_item_is_put_back_and_saved(self, as_admin, page):
        session = a_summarised_session()
        page.goto(as_admin.url(f"/sessions/{session.pk}/summaries/"))

        page.get_by_role("link", name="Put “Keep Python 3.11.” back").click()
        expect(page.get_by_label("Text of the summary")).to_contain_text(
            "Keep Python 3.11."
        )
        page.get_by_role("button", name="Save as the newest revision").click()

        expect(page.get_by_text("Revision 3 is in force")).to_be_visible()
        expect(page.get_by_text("0 dropped")).to_be_visible()

    def test_what_an_edit_changes_is_shown_before_it_is_saved(self, as_admin, page):
        session = a_summarised_session()
        page.goto(as_admin.url(f"/sessions/{session.pk}/summaries/edit/"))

        page.get_by_label("Text of the summary").fill("## Goal\n- Something else.")
        page.get_by_role("button", name="Show what it changes").click()

        expect(page.locator(".diff-item.added")).to_contain_text("Something else.")
        assert session.summaries.count() == 2

    def test_who_saves_late_gets_a_conflict_without_fault(self, as_admin, page):
        session = a_summarised_session()
        page.goto(as_admin.url(f"/sessions/{session.pk}/summaries/edit/"))
        theirs = SummaryEdit(text="## Goal\n- Theirs.", base_revision=2)
        edit_summary(session, theirs, operator=None)

        page.get_by_label("Text of the summary").fill("## Goal\n- Mine.")
        page.get_by_role("button", name="Save as the newest revision").click()

        expect(page.get_by_text("was changed while you edited it")).to_be_visible()
        assert faults_in_every_look(page) == []


class TestLive:
    def test_a_new_run_appears_in_the_list_by_itself(self, as_admin, page):
        a_run(a_session(title="Older"), status="in_progress")
        page.goto(as_admin.url("/runs/"))
        expect(page.get_by_text("Older")).to_be_visible()

        a_run(a_session(title="Newer"))

        expect(page.get_by_text("Newer")).to_be_visible()

    def test_paused_nothing_moves_until_it_goes_on(self, as_admin, page):
        session = a_session()
        page.goto(as_admin.url(f"/sessions/{session.pk}/timeline/"))
        page.keyboard.press(".")
        expect(page.get_by_role("button", name="Resume live")).to_be_visible()

        a_fault(session, detail="just now")
        page.wait_for_timeout(6_000)  # longer than the page's own pace
        assert page.get_by_text("just now", exact=True).count() == 0

        page.keyboard.press(".")
        expect(page.get_by_text("just now", exact=True)).to_be_visible()


class TestStream:
    def test_text_comes_as_it_is_written_and_the_end_is_seen(self, as_admin, page):
        run = a_run(status="in_progress", phase="planning", attempt=1)
        page.goto(as_admin.url(f"/runs/{run.pk}/"))
        text = page.locator("#run-text")

        def write(seq: int, words: str) -> None:
            RunChunk.objects.create(run=run, attempt=1, seq=seq, text=words)

        Run.objects.filter(pk=run.pk).update(phase="summarising")
        write(1, "## Goal\n<b>")
        expect(text).to_have_text("## Goal\n<b>")
        expect(page.locator(".steps .now")).to_contain_text("Summarise")
        # The stream works: nothing polls any more.
        expect(page.locator("#run-poll")).to_have_count(0)
        write(2, " tidy \u202e")
        write(3, "end")
        expect(text).to_have_text("## Goal\n<b> tidy ⟨U+202E⟩end")

        now = timezone.now()
        Run.objects.filter(pk=run.pk).update(
            status="failed", outcome="aborted", reason="timeout", finished_at=now
        )

        expect(page.locator(".verdict")).to_contain_text("nothing was changed")
        expect(page.locator("#run-stream")).to_have_count(0)

    def test_another_worker_begins_the_text_again(self, as_admin, page):
        run = a_run(status="in_progress", phase="summarising", attempt=1)
        RunChunk.objects.create(run=run, attempt=1, seq=1, text="first try")
        page.goto(as_admin.url(f"/runs/{run.pk}/"))
        expect(page.locator("#run-text")).to_have_text("first try")
        expect(page.locator("#run-poll")).to_have_count(0)

        Run.objects.filter(pk=run.pk).update(attempt=2)
        RunChunk.objects.create(run=run, attempt=2, seq=1, text="second try")

        expect(page.locator("#run-text")).to_have_text("second try")

    def test_where_no_stream_comes_through_the_page_asks_itself(
        self, as_admin, page, complaints
    ):
        run = a_run()
        page.route("**/events/", lambda route: route.abort())
        page.goto(as_admin.url(f"/runs/{run.pk}/"))

        Run.objects.filter(pk=run.pk).update(
            status="cancelled", finished_at=timezone.now()
        )

        expect(page.locator(".verdict")).to_contain_text("Cancelled")
        complaints.clear()  # the stream that was cut off on purpose

    def test_a_stream_goes_on_behind_the_last_batch_a_browser_has(self, as_admin, page):
        run = an_ended_run()
        for seq in (1, 2, 3):
            RunChunk.objects.create(run=run, attempt=1, seq=seq, text=f"part{seq} ")

        answer = page.context.request.get(
            as_admin.url(f"/runs/{run.pk}/events/"),
            headers={"Last-Event-ID": "1.2"},
        )

        body = answer.text()
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
        assert "id: 1.3" in body
        assert "part3" in body
        assert "part2" not in body
        assert body.rstrip().endswith("event: done\ndata: -")

    def test_a_stranger_gets_no_stream(self, console, page, stranger):
        run = a_run()
        console.sign_in(page.context, stranger)

        answer = page.context.request.get(console.url(f"/runs/{run.pk}/events/"))

        assert answer.status == 404


def test_a_file_is_imported_by_a_real_worker_while_one_watches(
    as_admin, page, worker, tmp_path
):
    talk = tmp_path / "talk.json"
    talk.write_text('[{"role": "user", "content": "Rename every helper."}]')
    page.goto(as_admin.url("/import/"))

    page.get_by_label("Choose files, or drop them here").set_input_files(talk)
    page.get_by_role("button", name="Import", exact=True).click()

    expect(page.get_by_text("1 new conversation; 1 message added.")).to_be_visible()
