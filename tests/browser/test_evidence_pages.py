"""What was lost, what survived, what was known: real pages in Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from compaction.models import Session
from compaction.services.summaries import SummaryEdit, edit_summary
from compaction.store import summary_in_force
from tests.browser.accessibility import faults_in_every_look
from tests.conversations import long_work, store_session
from tests.live import Console
from tests.services.run_fixtures import run_session

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def session(transactional_db):
    """Compacted, with a summary that an operator left almost empty."""
    run = run_session(store_session(long_work()))
    tip = run.result_session
    revision = summary_in_force(tip).revision
    edit_summary(
        tip, SummaryEdit(text="## Goal\n- Tidy.", base_revision=revision), operator=None
    )
    return tip


@pytest.fixture
def signed_in(console: Console, page: Page, operator) -> Console:
    console.sign_in(page.context, operator)
    return console


def address(session: Session, tab: str) -> str:
    return f"/sessions/{session.pk}/{tab}"


def test_a_loss_is_added_to_the_summary_with_one_press(signed_in, page, session):
    page.goto(signed_in.url(address(session, "summaries/")))
    first = page.locator(".loss").first
    words = first.locator(".words bdi").first.inner_text()

    first.get_by_role("button", name="Add to the summary").click()

    expect(page.locator("#flash")).to_contain_text("Revision 3 is in force")
    expect(page.locator("#summary-compared")).to_contain_text(words)
    assert words in summary_in_force(session).text


def test_what_is_not_needed_leaves_the_list_and_comes_back(signed_in, page, session):
    page.goto(signed_in.url(address(session, "summaries/")))
    first = page.locator(".loss").first
    words = first.locator(".words bdi").first.inner_text()

    first.get_by_role("button", name="Not needed").click()
    page.get_by_text("1 called not needed").click()
    page.get_by_role("button", name="It is needed after all").click()

    expect(page.locator(".loss .words bdi").first).to_have_text(words)


@pytest.mark.parametrize("tab", ["", "summaries/", "lineage/", "lineage/known/?at=2"])
def test_the_pages_about_evidence_have_no_fault(signed_in, page, session, tab):
    page.goto(signed_in.url(address(session, tab)))

    assert faults_in_every_look(page) == []


def test_the_page_of_the_run_with_losses_has_no_fault(signed_in, page, session):
    run = session.parent.runs.get()

    page.goto(signed_in.url(f"/runs/{run.pk}/"))

    expect(page.locator("#losses")).to_be_visible()
    assert faults_in_every_look(page) == []
