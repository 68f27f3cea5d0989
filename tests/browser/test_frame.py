"""The frame of every page: theme, keys, countdowns, dialogs, ruler and list."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
import time_machine
from playwright.sync_api import Browser, Dialog, Page, expect

from tests.browser.stage import HOST, Stage
from tests.charts.builders import make_session

pytestmark = [pytest.mark.browser, pytest.mark.urls("tests.browser.addresses")]

LIST = """
{% block main %}
<form class="search" data-guard>
<input type="search" name="q" aria-label="Search" data-search>
</form>
<table class="table cards"><tbody>
{% for name in names %}
<tr data-row><td>
<input type="checkbox" aria-label="select {{ name }}">
<a class="name" href="/{{ name }}/">{{ name }}</a>
</td></tr>
{% endfor %}
</tbody></table>
{% endblock %}
"""
NAMES = {"names": ["one", "two"]}
CONFIRM = """
{% block main %}{% include "components/_confirm.html" %}{% endblock %}
"""
COUNTDOWN = """
{% block main %}<p>until {% moment until "countdown" %}</p>{% endblock %}
"""
RULER = """
{% block main %}
{% include "components/_ruler.html" %}
<ol class="messages">
{% for n in positions %}
<li id="m-{{ n }}" class="message" data-row data-position="{{ n }}">{{ n }}</li>
{% endfor %}
</ol>
{% endblock %}
"""
CLEAR = SimpleNamespace(
    id="clear",
    label="Clear cooldown",
    title="Clear it?",
    text="The next run may start at once.",
    action="/clear/",
    button="Clear",
    level="reason",
    is_shortcut=True,
)


def test_the_chosen_theme_is_kept_for_the_next_page(page: Page):
    page.emulate_media(color_scheme="light")
    Stage(page=page, source="").open()

    page.get_by_role("button", name="Light or dark").click()

    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(15, 18, 22)"
    )
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_slash_leads_to_the_search_and_keys_rest_while_typing(page: Page):
    Stage(page=page, source=LIST, context=NAMES).open()

    page.keyboard.press("/")
    page.keyboard.type("jx?")

    expect(page.get_by_role("searchbox")).to_have_value("jx?")
    expect(page.locator(".is-current")).to_have_count(0)
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_a_list_is_walked_selected_and_opened_with_keys(page: Page):
    Stage(page=page, source=LIST, context=NAMES).open()

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")

    expect(page.locator(".is-current")).to_contain_text("two")
    expect(page.get_by_label("select two")).to_be_checked()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/one/")


def test_keys_can_be_switched_off_for_good(page: Page):
    Stage(page=page, source=LIST, context=NAMES).open()
    page.keyboard.press("?")
    page.get_by_label("Use keyboard shortcuts").uncheck()
    page.get_by_role("button", name="Close").click()

    page.reload()
    page.keyboard.press("j")

    expect(page.locator(".is-current")).to_have_count(0)


def test_the_key_for_compacting_only_opens_the_dialog(page: Page):
    stage = Stage(page=page, source=CONFIRM, context={"confirm": CLEAR})
    stage.open()

    page.keyboard.press("c")

    expect(page.get_by_role("dialog", name="Clear it?")).to_be_visible()
    assert stage.posted == []


def test_a_confirmation_works_without_any_script(chromium: Browser):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    stage = Stage(page=page, source=CONFIRM, context={"confirm": CLEAR})
    stage.open()

    page.get_by_role("button", name="Clear cooldown").click()
    page.get_by_label("Reason, kept with the action").fill("endpoint is back")
    page.get_by_role("button", name="Clear", exact=True).click()
    page.wait_for_url("**/clear/")

    assert stage.posted[0]["reason"] == ["endpoint is back"]
    context.close()


def test_a_cancelled_confirmation_sends_nothing(page: Page):
    stage = Stage(page=page, source=CONFIRM, context={"confirm": CLEAR})
    stage.open()

    page.get_by_role("button", name="Clear cooldown").click()
    page.get_by_role("button", name="Cancel").click()

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert stage.posted == []


def test_a_wait_is_counted_by_the_servers_clock_and_told_four_times(page: Page):
    server = datetime(2026, 11, 30, 14, 28, 28, tzinfo=UTC)
    until = server + timedelta(seconds=65)
    # The reader's clock is an hour slow; the wait must not grow by it.
    page.clock.install(time=server - timedelta(hours=1))
    with time_machine.travel(server, tick=False):
        Stage(page=page, source=COUNTDOWN, context={"until": until}).open()
    left = page.locator("time[data-countdown]")
    expect(left).to_have_text("1 min 5 s left")

    said = []
    for _ in range(70):
        page.clock.run_for(1_000)
        said.append(page.locator("#announcer").inner_text())

    heard = [
        text for text, before in zip(said, ["", *said], strict=False) if text != before
    ]
    assert [re.sub(r"\D", "", text) for text in heard] == ["60", "30", "10", ""]
    expect(left).to_have_text("over")


def test_without_scripts_a_wait_says_until_when(chromium: Browser):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    until = datetime(2026, 11, 30, 14, 32, 10, tzinfo=UTC)
    Stage(page=page, source=COUNTDOWN, context={"until": until}).open()

    expect(page.locator("time")).to_have_text("until 14:32:10")
    context.close()


def make_ruler(count: int) -> dict[str, object]:
    items = make_session(2, count - 4, 2)
    ruler = SimpleNamespace(items=items, at_url="/list/", shown_from=0, shown_to=9)
    return {"ruler": ruler, "positions": range(10)}


def press_ruler(page: Page, part: float) -> None:
    box = page.locator("[data-ruler]").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * part, box["y"] + 60)


def test_a_press_on_the_ruler_goes_to_the_message_in_the_list(page: Page):
    Stage(page=page, source=RULER, context=make_ruler(100)).open()

    press_ruler(page, 0.055)

    expect(page.locator("#m-5")).to_be_focused()
    expect(page.locator("[data-readout]")).to_contain_text("message 5 · 10 tokens")


def test_a_press_on_a_message_that_is_not_listed_asks_for_it(page: Page):
    Stage(page=page, source=RULER, context=make_ruler(100)).open()

    press_ruler(page, 0.505)

    page.wait_for_url(HOST + "/list/?at=50#m-50")


def test_the_ruler_leads_to_a_message_without_scripts(chromium: Browser):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    Stage(page=page, source=RULER, context=make_ruler(100)).open()

    page.get_by_label("go to message").fill("77")
    page.get_by_role("button", name="Go").click()

    page.wait_for_url(HOST + "/list/?at=77")
    context.close()


def test_walking_the_list_shows_the_place_on_the_ruler(page: Page):
    Stage(page=page, source=RULER, context=make_ruler(100)).open()

    page.keyboard.press("j")
    page.keyboard.press("j")

    expect(page.locator("rect.is-current")).to_have_attribute("data-at", "1")


@pytest.mark.parametrize("is_edited", [True, False])
def test_leaving_an_edited_form_is_asked_about(page: Page, is_edited: bool):
    Stage(page=page, source=LIST, context=NAMES).open()
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.get_by_role("searchbox").click()
    if is_edited:
        page.keyboard.type("x")

    page.evaluate("location.href = '/elsewhere/'")
    page.wait_for_timeout(300)

    assert asked == (["beforeunload"] if is_edited else [])


def test_the_token_against_forgery_reaches_requests_of_htmx(page: Page):
    source = (
        '{% block main %}<button hx-nonce="{{ CSP_NONCE }}" hx-post="/act/">Act'
        "</button>{% endblock %}"
    )
    Stage(page=page, source=source).open()

    with page.expect_request("**/act/") as sent:
        page.get_by_role("button", name="Act").click()

    assert sent.value.headers["x-csrftoken"]


def test_markup_smuggled_in_without_the_nonce_does_nothing(page: Page):
    source = '{% block main %}<button hx-post="/act/">Act</button>{% endblock %}'
    stage = Stage(page=page, source=source)
    stage.open()

    page.get_by_role("button", name="Act").click()
    page.wait_for_timeout(300)

    assert stage.posted == []


def test_a_pause_holds_live_parts_and_says_so(page: Page):
    source = (
        "{% block live %}{% include 'components/_live.html' %}{% endblock %}"
        '{% block main %}<p data-live-part hx-nonce="{{ CSP_NONCE }}"'
        ' hx-get="/part/" hx-trigger="every 200ms" hx-swap="none">x</p>{% endblock %}'
    )
    Stage(page=page, source=source).open()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(700)
    assert asked

    page.keyboard.press(".")
    page.wait_for_timeout(300)
    asked.clear()
    page.wait_for_timeout(700)

    assert asked == []
    expect(page.locator("[data-live-word]")).to_have_text("paused")


def test_the_dead_end_of_a_broken_console_is_told(page: Page):
    source = (
        '{% block main %}<button hx-nonce="{{ CSP_NONCE }}" hx-post="/act/"'
        ' hx-target="#away">Act</button><p id="away">kept</p>{% endblock %}'
    )
    Stage(page=page, source=source).open()
    page.route("**/act/", lambda route: route.abort())

    page.get_by_role("button", name="Act").click()

    expect(page.locator(".toast")).to_contain_text("did not answer")
    expect(page.locator("#away")).to_have_text("kept")


def test_an_error_page_goes_to_the_flash_and_not_into_the_part(page: Page):
    source = (
        '{% block main %}<button hx-nonce="{{ CSP_NONCE }}" hx-post="/act/"'
        ' hx-target="#away">Act</button><p id="away">kept</p>{% endblock %}'
    )
    Stage(page=page, source=source).open()
    broken = '<html><body><section id="fault">Something broke</section></body></html>'
    page.route("**/act/", lambda route: route.fulfill(status=500, body=broken))

    page.get_by_role("button", name="Act").click()

    expect(page.locator("#flash")).to_contain_text("Something broke")
    expect(page.locator("#away")).to_have_text("kept")


def test_a_foreign_ruler_item_is_never_run(page: Page):
    items = make_session(1, 3, 1)
    items[2] = replace(items[2], role='"><img src=x onerror="document.title=1">')
    ruler = SimpleNamespace(items=items, at_url="/", shown_from=0, shown_to=1)
    Stage(page=page, source=RULER, context={"ruler": ruler, "positions": []}).open()

    assert page.title().startswith("Stage")
    expect(page.locator("[data-ruler] img")).to_have_count(0)
