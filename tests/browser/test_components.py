"""Every component, in both themes, on a desk and on a phone."""

from __future__ import annotations

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

from tests.browser.gallery import PAGE, make_gallery
from tests.browser.stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.urls("tests.browser.addresses")]

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]}
OUTSIDE = """
[...document.querySelectorAll("main *")]
  .filter((element) => !element.closest(".tabs, .scroll, .unseen, dialog"))
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
  .map((element) => element.outerHTML.slice(0, 120))
"""


def show(page: Page, theme: Literal["light", "dark"], width: int) -> Page:
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    return Stage(page=page, source=PAGE, context=make_gallery()).open()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(page: Page, theme: Literal["light", "dark"], width: int):
    found = Axe().run(show(page, theme, width), options=RULES)

    assert found.response["violations"] == [], found.generate_report()


@pytest.mark.parametrize("width", [1920, 1280, 800, 390, 320])
def test_nothing_reaches_beyond_the_edge(page: Page, width: int):
    show(page, "light", width)

    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_everything_to_press_is_large_enough(page: Page):
    show(page, "light", 390)

    small = page.evaluate("""
        [...document.querySelectorAll("main button, main .actions a, .nav a, .tabs a")]
          .map((element) => [element.outerHTML, element.getBoundingClientRect()])
          .filter(([, box]) => box.width && (box.width < 24 || box.height < 24))
          .map(([html]) => html)
    """)

    assert small == []


def test_a_printed_page_keeps_the_content_and_drops_the_controls(page: Page):
    show(page, "dark", 1280)
    page.emulate_media(media="print")

    assert page.locator(".ruler").is_visible()
    assert page.locator(".message").first.is_visible()
    assert not page.locator(".side").is_visible()
    assert not page.get_by_role("button", name="Compact now").is_visible()
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
