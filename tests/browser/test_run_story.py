"""From "Compact now" to the summary: a real browser, server, worker and endpoint."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from compaction.models import Conversation, Run, Session
from tests.browser.accessibility import faults_of
from tests.conversations import long_work, store_session
from tests.live import Console, Workers, answers, free_port, start_process, wait_for
from tests.server.replies import NAMED, SUMMARY, Reply
from tests.server.scripted_openai import ScriptedOpenAI

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def endpoint(scripted_openai: ScriptedOpenAI) -> dict[str, str]:
    """The environment of processes that ask the scripted endpoint."""
    return {
        "SUMMARISER_BASE_URL": scripted_openai.base_url,
        "SUMMARISER_MODEL": "scripted-model",
        "SUMMARISER_INPUT_PRICE": "0.5",
        "SUMMARISER_OUTPUT_PRICE": "2",
    }


@pytest.fixture
def console(
    transactional_db: None, endpoint: dict[str, str], tmp_path: Path
) -> Iterator[Console]:
    """A web server that plans for the scripted endpoint, as the worker does."""
    port = free_port()
    process = start_process(
        [
            *(sys.executable, "-m", "uvicorn", "hermes_web.asgi:application"),
            *("--host", "127.0.0.1", "--port", str(port), "--lifespan", "off"),
            *("--timeout-graceful-shutdown", "1", "--log-level", "warning"),
        ],
        tmp_path / "web.log",
        **endpoint,
    )
    try:
        wait_for(lambda: answers(port), what="the web server answers", seconds=60)
        yield Console(process=process, port=port)
    finally:
        process.stop()


@pytest.fixture
def at_work(workers: Workers, endpoint: dict[str, str]) -> Workers:
    """One worker that asks the scripted endpoint."""
    workers.start(**endpoint)
    return workers


@pytest.fixture
def session(transactional_db: None) -> Session:
    return store_session(long_work(60), window=32_000, title="Orchard")


@pytest.fixture
def at_the_session(console: Console, page: Page, operator, session) -> Page:
    """An operator at the Context page of the conversation."""
    console.sign_in(page.context, operator)
    page.goto(console.url(f"/sessions/{session.pk}/"))
    return page


def newest_run() -> Run:
    return Run.objects.order_by("-queued_at")[0]


def test_one_press_leads_to_a_summary_and_all_of_it_can_be_watched(
    at_work, at_the_session, console, scripted_openai
):
    page = at_the_session
    scripted_openai.play(Reply(text=SUMMARY, delay=0.15))

    page.get_by_role("button", name="Compact now").click()
    text = page.locator("#run-text")
    expect(text).to_contain_text("Tidy the sample project.")
    assert newest_run().is_active  # the text was seen before the end

    page.wait_for_url(
        f"**/runs/{newest_run().pk}/"
    )  # what stood below was the old page
    expect(page.locator(".verdict").first).to_contain_text("became one summary")
    expect(page.get_by_role("link", name="Open the new session")).to_be_visible()
    expect(page.get_by_text("scripted-model", exact=True)).to_be_visible()
    assert faults_of(page) == []

    page.get_by_role("link", name="Read the summary").click()
    expect(page.get_by_role("heading", name="in force")).to_be_visible()
    expect(page.locator(".summary-items").first).to_contain_text("Tidy the sample")
    page.get_by_role("link", name="Timeline").click()
    expect(page.locator(".events")).to_contain_text("messages became a summary")
    conversation = Conversation.objects.get()
    assert conversation.sessions.count() == 2
    assert conversation.tip.parent_id is not None


def test_a_refusal_starts_a_cooldown_that_an_operator_can_clear(
    at_work, at_the_session, scripted_openai, console, session
):
    page = at_the_session
    scripted_openai.play("429", NAMED["ok"])
    before = session.message_count

    page.get_by_role("button", name="Compact now").click()
    verdict = page.locator("#run-progress .verdict")
    expect(verdict).to_contain_text("The summary failed, so nothing was changed.")
    expect(verdict).to_contain_text("limits how often it may be asked")
    session.refresh_from_db()
    assert (session.message_count, session.ended_at) == (before, None)

    page.goto(console.url(f"/sessions/{session.pk}/"))
    page.get_by_role("button", name="Clear cooldown").click()
    expect(page.get_by_text("The cooldown is cleared")).to_be_visible()
    page.get_by_role("button", name="Compact now").click()
    expect(page.locator("#run-progress .verdict")).to_contain_text("one summary")


def test_a_run_is_cancelled_while_the_model_still_writes(
    at_work, at_the_session, scripted_openai, console, session
):
    page = at_the_session
    scripted_openai.play(Reply(text=SUMMARY, delay=0.5))

    page.get_by_role("button", name="Compact now").click()
    expect(page.locator("#run-text")).to_contain_text("Goal")
    page.get_by_role("button", name="Cancel the run").click()

    expect(page.locator(".verdict")).to_contain_text("Cancelled; nothing was changed.")
    wait_for(lambda: newest_run().status == "cancelled", what="it is cancelled")
    assert Session.objects.count() == 1


def test_without_scripts_one_press_leads_to_the_page_of_the_run(
    at_work, console, chromium, operator, session
):
    context = chromium.new_context(java_script_enabled=False)
    console.sign_in(context, operator)
    page = context.new_page()
    page.goto(console.url(f"/sessions/{session.pk}/"))

    page.get_by_role("button", name="Compact now").click()
    wait_for(lambda: newest_run().finished_at, what="the run ends")
    page.goto(console.url(f"/runs/{newest_run().pk}/"))

    expect(page.locator(".verdict")).to_contain_text("became one summary")
    context.close()
