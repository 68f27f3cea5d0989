"""The Endpoints page in Chromium: tested, put in order, without scripts too."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from compaction.models import Endpoint
from tests.browser.accessibility import faults_in_every_look
from tests.live import Console
from tests.server.replies import failure
from tests.server.scripted_openai import ScriptedOpenAI

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def as_admin(console: Console, page: Page, admin) -> Console:
    console.sign_in(page.context, admin)
    return console


@pytest.fixture
def served(transactional_db, scripted_openai: ScriptedOpenAI) -> ScriptedOpenAI:
    """Two endpoints of this page; the first is really there."""
    enter("main", base_url=scripted_openai.base_url, allow_private=True)
    enter("spare", position=1, writes_summaries=True, key_env="SPARE_API_KEY")
    return scripted_openai


def enter(name: str, **values: Any) -> Endpoint:
    given = {"base_url": "http://192.0.2.1/v1", "model": "big-1", "position": 0}
    return Endpoint.objects.create(name=name, **{**given, **values})


def test_no_state_of_the_pages_has_a_fault(as_admin, page, served):
    served.play(failure(401, message="Incorrect API key provided"))
    Endpoint.objects.filter(name="spare").update(enabled=False)
    page.goto(as_admin.url("/endpoints/"))
    page.get_by_role("button", name="Test connection main").click()
    expect(page.get_by_role("alert")).to_contain_text("It refuses the key")
    assert faults_in_every_look(page) == []

    for path in ("/endpoints/new/", "/endpoints/main/", "/endpoints/main/delete/"):
        page.goto(as_admin.url(path))
        assert faults_in_every_look(page) == []

    Endpoint.objects.all().delete()
    page.goto(as_admin.url("/endpoints/"))
    assert faults_in_every_look(page) == []


def test_a_wrong_form_has_no_fault_and_leads_to_the_field(as_admin, page, served):
    page.goto(as_admin.url("/endpoints/new/"))
    page.get_by_label("Name").fill("local")
    page.get_by_label("Base URL").fill("http://127.0.0.1:9/v1")
    page.get_by_label("Model").fill("big-1")
    page.get_by_role("button", name="Save the endpoint").click()

    summary = page.get_by_role("alert")
    expect(summary).to_be_focused()
    expect(summary).to_contain_text("Permit it below")
    assert faults_in_every_look(page) == []


def test_an_endpoint_is_tested_before_it_is_saved(as_admin, page, served):
    page.goto(as_admin.url("/endpoints/new/"))
    page.get_by_label("Name").fill("local")
    page.get_by_label("Base URL").fill(served.base_url)
    page.get_by_label("Model").fill("big-1")
    page.get_by_label("May be on this machine").check()
    page.get_by_role("button", name="Test without saving").click()
    expect(page.get_by_role("status").filter(has_text="It answered in")).to_be_focused()
    expect(page.get_by_label("Base URL")).to_have_value(served.base_url)

    page.get_by_role("button", name="Save the endpoint").click()

    expect(page.get_by_text("The endpoint “local” is saved.")).to_be_visible()
    assert Endpoint.objects.get(name="local").position == 2


def test_everything_works_without_scripts(as_admin, chromium: Browser, admin, served):
    context = chromium.new_context(java_script_enabled=False)
    as_admin.sign_in(context, admin)
    plain = context.new_page()
    plain.goto(as_admin.url("/endpoints/"))

    plain.get_by_role("button", name="Test connection main").click()
    expect(plain.get_by_text("It answered in")).to_be_visible()
    plain.get_by_role("button", name="Later main").click()
    expect(plain.get_by_text("Turns are answered by spare (big-1).")).to_be_visible()
    plain.get_by_role("button", name="Disable spare").click()
    expect(plain.get_by_text("Turns are answered by main (big-1).")).to_be_visible()
    plain.get_by_role("link", name="Edit spare").click()
    plain.get_by_role("link", name="Delete…").click()
    plain.get_by_role("button", name="Delete the endpoint").click()

    expect(plain).to_have_url(re.compile("/endpoints/$"))
    assert [endpoint.name for endpoint in Endpoint.objects.all()] == ["main"]
    context.close()
