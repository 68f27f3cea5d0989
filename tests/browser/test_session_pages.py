"""Sessions, Context, Compact, Lineage and Raw of the real console, in Chromium."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import ConsoleMessage, Page, expect

from compaction.models import Cooldown, Run, Session
from tests.browser.accessibility import faults_in_every_look
from tests.live import Console
from tests.web.rows import (
    a_conversation,
    a_session,
    a_successor,
    a_talk,
    assistant,
    result,
    user,
)
from tests.web.test_context import HOSTILE, PIXEL, SMALL, with_picture

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def complaints(page: Page):
    """What the console of the browser says; a test ends without any."""
    heard: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        # Chromium reports an expected 409 as it reports a broken page.
        if message.type in ("error", "warning") and "409" not in message.text:
            heard.append(message.text)

    page.on("console", hear)
    yield heard
    assert heard == []


@pytest.fixture
def signed_in(console: Console, page: Page, operator, complaints):
    """The console, with an operator at the browser."""
    console.sign_in(page.context, operator)
    return console


@pytest.fixture
def large(transactional_db) -> Session:
    return a_session(a_talk(60, words=80), title="Fix the loop", **SMALL)


def address(session: Session, tab: str = "") -> str:
    return f"/sessions/{session.pk}/{tab}"


# --- every page, both themes, wide and narrow ---------------------------------
def test_the_list_has_no_fault(signed_in, page, large):
    a_conversation(state="stuck", last_error="429 rate_limit", session_count=3)
    a_conversation(title="旅行计划与预算", model="glm-4.7")

    page.goto(signed_in.url("/sessions/"))

    assert faults_in_every_look(page) == []


def test_the_empty_list_and_a_search_without_match_have_no_fault(signed_in, page):
    page.goto(signed_in.url("/sessions/"))
    assert faults_in_every_look(page) == []

    a_conversation()
    page.goto(signed_in.url("/sessions/?q=nothing+like+it"))
    assert faults_in_every_look(page) == []


def test_a_search_has_no_fault(signed_in, page, large):
    page.goto(signed_in.url("/sessions/?q=question"))

    expect(page.locator("mark").first).to_be_visible()
    assert faults_in_every_look(page) == []


@pytest.mark.parametrize("tab", ["", "compact/", "compact/prompt/", "lineage/", "raw/"])
def test_a_page_of_a_session_has_no_fault(signed_in, page, large, tab):
    tip = a_successor(large, a_talk(40, words=80))
    now = timezone.now()
    Cooldown.objects.create(
        conversation=tip.conversation,
        started_at=now,
        until=now + timedelta(hours=1),
        seconds=3_600,
        reason="rate_limit",
    )

    page.goto(signed_in.url(address(tip, tab)))

    assert faults_in_every_look(page) == []


def test_an_older_session_and_a_stuck_one_have_no_fault(signed_in, page, large):
    a_successor(large, a_talk(2))
    stuck = a_session([user("x" * 40_000), assistant("y" * 40_000)], **SMALL)

    for place in (f"{address(large)}?exact=1", address(stuck)):
        page.goto(signed_in.url(place))
        assert faults_in_every_look(page) == []


def test_hostile_messages_have_no_fault_and_run_nothing(signed_in, page):
    session = a_session(
        [
            user(HOSTILE),
            assistant("a" * 1_000_000),
            with_picture(PIXEL),
            with_picture("https://192.0.2.1/pixel.png"),
            result("orphan", "<img src=x onerror=alert(1)>"),
        ],
        title="<script>alert(1)</script>",
    )

    for tab in ("", "raw/", "messages/1/", "messages/2/?picture=0", "messages/3/"):
        page.goto(signed_in.url(address(session, tab)))
        assert faults_in_every_look(page) == []


# --- with scripts ---------------------------------------------------------------
def test_typing_searches_by_itself(signed_in, page, large):
    a_conversation(title="Nightly report")
    page.goto(signed_in.url("/sessions/"))
    expect(page.locator("tbody tr")).to_have_count(2)

    page.get_by_role("searchbox").press_sequentially("nightly")

    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page).to_have_url(signed_in.url("/sessions/?q=nightly"))


def test_keys_lead_through_the_list_into_a_session_and_its_tabs(signed_in, page, large):
    a_conversation(title="Newest", active_at=timezone.now())
    page.goto(signed_in.url("/sessions/"))

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")

    page.wait_for_url(signed_in.url(address(large)), wait_until="load")
    page.keyboard.press("c")
    page.wait_for_url(signed_in.url(address(large, "compact/")), wait_until="load")
    assert not Run.objects.exists()
    page.keyboard.press("9")
    expect(page).to_have_url(signed_in.url(address(large, "raw/")))


def test_the_next_window_of_messages_comes_without_a_new_page(signed_in, page, large):
    page.goto(signed_in.url(address(large)))
    page.evaluate("window.wasHere = true")

    page.get_by_role("link", name="Later 50").click()

    expect(page.locator("#m-50")).to_be_visible()
    expect(page.locator("#m-0")).to_have_count(0)
    expect(page).to_have_url(signed_in.url(f"{address(large)}?at=50"))
    assert page.evaluate("window.wasHere")


def test_after_a_swap_the_focus_is_at_the_new_list(signed_in, page, large):
    page.goto(signed_in.url(address(large)))

    page.get_by_role("link", name="Later 50").click()

    expect(page.locator("#messages-title")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#m-50")).to_be_focused()


def test_the_list_renews_itself_and_keeps_the_place(signed_in, page, large):
    page.goto(signed_in.url("/sessions/"))
    page.keyboard.press("j")
    expect(page.locator("tbody tr").first).to_be_focused()
    conversation = large.conversation
    conversation.title = "Fix the loop at last"
    conversation.save()

    page.locator("#session-list").dispatch_event("live:resume")

    row = page.locator(f"#c-{conversation.pk}")
    expect(row).to_contain_text("Fix the loop at last")
    expect(row).to_have_class("is-current")
    expect(row).to_be_focused()


def test_a_paused_list_stays_as_it_is(signed_in, page, large):
    page.goto(signed_in.url("/sessions/"))

    page.get_by_role("button", name="Pause live").click()

    expect(page.get_by_text("paused").first).to_be_visible()
    expect(page.get_by_role("button", name="Resume live")).to_be_visible()


def test_the_list_narrows_in_place(signed_in, page, large):
    page.goto(signed_in.url(address(large)))

    page.get_by_role("navigation", name="Show only").get_by_text("tool").click()

    expect(page.locator("#m-1")).to_have_count(0)
    expect(page.locator("#m-3 .role")).to_have_text("tool")


def test_a_message_unfolds_in_its_place(signed_in, page, large):
    page.goto(signed_in.url(address(large)))

    page.locator("#m-3").get_by_role("link", name="whole message 3").click()

    expect(page.locator("#m-3 .whole")).to_contain_text("data data data")


def test_a_picture_comes_only_after_a_press(signed_in, page):
    session = a_session([with_picture(PIXEL)])
    page.goto(signed_in.url(address(session)))
    expect(page.locator("img")).to_have_count(0)

    page.get_by_role("link", name="whole message 0").click()
    page.get_by_role("link", name="Show it").click()

    picture = page.locator("#m-0 img")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") == 1


def test_another_value_plans_anew_by_itself(signed_in, page, large):
    page.goto(signed_in.url(address(large, "compact/")))
    tail = page.locator("#plan tbody tr").last.locator("td").nth(1)
    before = tail.inner_text()

    page.get_by_role("spinbutton", name="Tail, in tokens").fill("3000")

    expect(tail).not_to_have_text(before)
    expect(page).to_have_url(re.compile("tail_budget=3000"))
    assert not Run.objects.exists()


def test_the_slider_moves_the_number_and_the_plan(signed_in, page, large):
    page.goto(signed_in.url(address(large, "compact/")))
    tail = page.locator("#plan tbody tr").last.locator("td").nth(1)
    before = tail.inner_text()

    page.locator("#compact-tail_budget-range").fill("3000")

    expect(page.locator("#compact-tail_budget")).to_have_value("3000")
    expect(tail).not_to_have_text(before)


def test_the_prompt_is_loaded_when_asked_for(signed_in, page, large):
    page.goto(signed_in.url(address(large, "compact/")))

    page.get_by_role("link", name="Show it as it would be sent").click()

    expect(page.locator("#prompt .raw").first).to_contain_text("handoff summaries")


def test_one_press_starts_a_run_and_shows_its_progress(signed_in, page, large):
    page.goto(signed_in.url(address(large)))

    page.get_by_role("button", name="Compact now").click()

    expect(page.locator("#run-progress")).to_be_visible()
    assert Run.objects.get().session_id == large.pk


def test_a_press_leads_to_a_smaller_session_while_one_watches(
    worker, signed_in, page, large
):
    page.goto(signed_in.url(address(large)))

    page.get_by_role("button", name="Compact now").click()

    expect(page.locator("#run-progress")).to_contain_text(
        "messages became one summary", timeout=30_000
    )
    page.goto(signed_in.url(address(large)))
    tip = Session.objects.get(parent=large)
    page.wait_for_url(re.compile(f"/sessions/{tip.pk}/"))
    expect(page.get_by_text("You asked for session")).to_be_visible()
    expect(page.locator(".chip.summary").first).to_be_visible()
    assert tip.tokens < large.tokens
    assert faults_in_every_look(page) == []


def test_a_double_press_starts_one_run(signed_in, page, large):
    page.goto(signed_in.url(address(large)))

    page.get_by_role("button", name="Compact now").dblclick()

    expect(page.locator("#run-progress")).to_be_visible()
    assert Run.objects.count() == 1


def test_in_a_cooldown_the_press_asks_once_more(signed_in, page, large):
    now = timezone.now()
    Cooldown.objects.create(
        conversation=large.conversation,
        started_at=now,
        until=now + timedelta(hours=1),
        seconds=3_600,
        reason="rate_limit",
    )
    page.goto(signed_in.url(address(large)))

    with page.expect_response(lambda answer: answer.status == 409):
        page.get_by_role("button", name="Compact now").click()
    expect(page.get_by_text("no run was started")).to_be_visible()
    assert not Run.objects.exists()

    page.get_by_role("button", name="Compact all the same").click()
    expect(page).to_have_url(re.compile("/runs/"))
    assert Run.objects.get().forced


def test_raw_json_unfolds_and_the_rest_is_loaded(signed_in, page):
    session = a_session([user("z" * 5_000)])
    page.goto(signed_in.url(address(session, "raw/")))

    page.locator("#r-0 summary").click()
    page.locator("#r-0").get_by_role("link").click()

    expect(page.locator("#r-0 .raw")).to_contain_text("z" * 5_000)


def test_the_download_is_a_file(signed_in, page, large):
    page.goto(signed_in.url(address(large, "raw/")))

    with page.expect_download() as caught:
        page.get_by_role("button", name="Download JSON").click()

    assert caught.value.suggested_filename == f"{large.pk}.json"


# --- without scripts --------------------------------------------------------------
@pytest.fixture
def plain(console: Console, chromium, operator):
    """A page in a browser that runs no script."""
    context = chromium.new_context(java_script_enabled=False)
    console.sign_in(context, operator)
    yield context.new_page()
    context.close()


def test_without_scripts_a_run_is_planned_and_started(console, plain, large):
    plain.goto(console.url("/sessions/"))
    plain.get_by_role("link", name="Fix the loop").click()
    plain.get_by_role("link", name="Preview…").click()
    plain.get_by_role("spinbutton", name="Tail, in tokens").fill("900")
    plain.get_by_role("button", name="Plan with these values").click()

    plain.get_by_role("button", name="Compact with these values").click()

    run = Run.objects.get()
    assert plain.url == console.url(f"/runs/{run.pk}/")
    assert run.policy["tail_tokens"] == 900


def test_without_scripts_messages_unfold_on_pages_of_their_own(console, plain, large):
    plain.goto(console.url(address(large)))
    plain.get_by_role("link", name="Later 50").click()
    plain.get_by_role("link", name="whole message 63").click()

    assert "data data data" in plain.locator(".whole").inner_text()
    plain.get_by_role("link", name="Back to its place").click()
    assert plain.url.endswith("?at=63#m-63")
