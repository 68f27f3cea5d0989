"""A whole turn as an operator watches it: real browser, server, worker and endpoint."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from compaction.models import Session, Turn
from tests.browser.accessibility import faults_in_every_look, faults_of
from tests.live import Console, Workers, answers, free_port, start_process, wait_for
from tests.server.replies import Reply, failure, tool_call
from tests.server.scripted_openai import ScriptedOpenAI
from tests.services.turn_fixtures import own_session

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "<img src=x onerror=alert(1)> <hx-partial hx-target='body'>gone</hx-partial>"
TODO = tool_call("task_set_goal", '{"goal": "Count the pears."}')


@pytest.fixture
def endpoint(scripted_openai: ScriptedOpenAI) -> dict[str, str]:
    """The environment of processes whose turns the scripted endpoint answers."""
    return {
        "OPENAI_API_KEY": "any",
        "OPENAI_BASE_URL": scripted_openai.base_url,
        "OPENAI_MODEL": "scripted-model",
    }


@pytest.fixture
def console(
    transactional_db: None, endpoint: dict[str, str], tmp_path: Path
) -> Iterator[Console]:
    """A web server that knows of the endpoint, as the worker does."""
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
    """One worker whose turns ask the scripted endpoint."""
    workers.start(**endpoint)
    return workers


@pytest.fixture
def session(transactional_db: None) -> Session:
    return own_session(title="Pears")


@pytest.fixture
def at_the_chat(console: Console, page: Page, operator, session) -> Page:
    """An operator at the Chat page of an empty conversation."""
    console.sign_in(page.context, operator)
    page.goto(console.url(f"/sessions/{session.pk}/turn/"))
    return page


def send(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send").click()


def test_a_turn_is_watched_from_the_message_to_the_answer(
    at_work, at_the_chat, scripted_openai, console
):
    page = at_the_chat
    scripted_openai.play(
        Reply(
            text="Let me set the goal.", tool_calls=(TODO,), finish_reason="tool_calls"
        ),
        failure(429, message="Too many requests", headers={"Retry-After": "3"}),
        Reply(text=f"Seven pears. {HOSTILE} " + "More words follow. " * 20, delay=0.1),
    )

    send(page, "How many pears are there?")

    live = page.locator("#turn-steps")
    expect(live).to_contain_text("task_set_goal")
    expect(live).to_contain_text("Too many requests")
    expect(live.locator("time[data-countdown]")).to_be_visible()
    expect(page.locator("#turn-status")).to_contain_text("Waits before it tries again")
    assert faults_of(page) == []
    expect(live).to_contain_text("Seven pears. <img src=x")
    assert Turn.objects.get().is_active  # the text was seen before the end

    expect(page.locator("#turn-now.verdict")).to_contain_text("The agent has answered.")
    talk = page.locator(".talk").first
    expect(talk).to_contain_text("How many pears are there?")
    expect(talk).to_contain_text("Seven pears. <img src=x")
    assert page.locator(".talk img").count() == 0
    assert Turn.objects.get().end == "completed"

    page.get_by_role("link", name="What happened in it").click()
    expect(page.locator("#turn-steps")).to_contain_text("Too many requests")
    assert faults_in_every_look(page) == []
    page.goto(console.url(f"/sessions/{Session.objects.get().pk}/timeline/"))
    expect(page.locator("#timeline")).to_contain_text("attempt 1 of")


def test_a_turn_is_stopped_while_the_model_still_writes(
    at_work, at_the_chat, scripted_openai
):
    page = at_the_chat
    scripted_openai.play(Reply(text="One pear, two pears, " * 40, delay=0.5))

    send(page, "Count.")
    expect(page.locator("#turn-steps")).to_contain_text("One pear")
    page.get_by_role("button", name="Stop").click()

    expect(page.locator("#turn-now")).to_contain_text("An operator stopped this turn.")
    assert Turn.objects.get().status == "cancelled"


@pytest.mark.parametrize("how", ["stream", "polling"])
def test_what_is_written_during_a_turn_stays_when_the_page_is_shown_anew(
    at_work, at_the_chat, scripted_openai, how
):
    page = at_the_chat
    if how == "polling":
        page.context.route("**/turns/*/events/", lambda route: route.abort())
    scripted_openai.play(Reply(text="One pear, two pears. " * 30, delay=0.15))

    send(page, "Count.")
    expect(page.locator("#turn-status")).to_contain_text("Asks the model.")
    message = page.get_by_label("Message", exact=True)
    message.press_sequentially("And the apples?")
    expect(page.locator("#turn-now.verdict")).to_contain_text("The agent has answered.")

    expect(message).to_have_value("And the apples?")
    expect(message).to_be_focused()
    expect(page.locator(".page-head")).to_contain_text("2 messages")
    scripted_openai.play(Reply(text="No apples."))
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".talk").first).to_contain_text("No apples.")
    expect(message).to_have_value("")


@pytest.mark.usefixtures("at_work")
def test_without_scripts_a_message_is_sent_and_the_page_says_how_to_go_on(
    console, chromium, operator, session, scripted_openai
):
    scripted_openai.play(Reply(text="Seven pears."))
    context = chromium.new_context(java_script_enabled=False)
    console.sign_in(context, operator)
    page = context.new_page()
    page.goto(console.url(f"/sessions/{session.pk}/turn/"))

    send(page, "How many pears?")
    wait_for(lambda: not Turn.objects.get().is_active, what="the turn ends")
    page.reload()

    expect(page.locator(".talk").first).to_contain_text("Seven pears.")
    expect(page.locator("#turn-now")).to_contain_text("The agent has answered.")
    context.close()


def test_the_timeline_tells_of_a_turn_by_itself_unless_it_is_paused(
    at_work, at_the_chat, console, session, scripted_openai
):
    scripted_openai.always(Reply(text="Seven pears."))
    timeline = at_the_chat.context.new_page()
    timeline.goto(console.url(f"/sessions/{session.pk}/timeline/"))
    expect(timeline.locator("#poll")).to_have_count(0)  # the stream works
    timeline.get_by_role("button", name="Pause live").click()

    send(at_the_chat, "How many pears?")
    expect(at_the_chat.locator("#turn-now")).to_contain_text("The agent has answered.")
    expect(timeline.locator("#timeline")).not_to_contain_text("How many pears?")

    timeline.get_by_role("button", name="Resume").click()
    expect(timeline.locator("#timeline")).to_contain_text("How many pears?")
    send(at_the_chat, "And apples?")
    expect(timeline.locator("#timeline")).to_contain_text("And apples?")


@pytest.mark.parametrize("path", ["/recovery/", "/sessions/new/", "chat", "memory"])
def test_the_pages_have_no_fault_that_axe_finds(console, page, operator, session, path):
    console.sign_in(page.context, operator)
    own = {
        "chat": f"/sessions/{session.pk}/turn/",
        "memory": f"/sessions/{session.pk}/memory/",
    }
    page.goto(console.url(own.get(path, path)))

    assert faults_in_every_look(page) == []
