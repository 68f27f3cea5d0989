"""What axe finds on a page of the real console, in both themes and two widths."""

from __future__ import annotations

from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

Theme = Literal["light", "dark"]
LOOKS: tuple[tuple[int, Theme], ...] = (
    (1280, "light"),
    (1280, "dark"),
    (390, "light"),
    (390, "dark"),
)


def faults_of(page: Page) -> list[str]:
    """Return the violations on the page as it is: rule and elements."""
    found: Any = Axe().run(page)
    return [
        f"{violation['id']}: {[node['html'][:200] for node in violation['nodes'][:3]]}"
        for violation in found.response["violations"]
    ]


def faults_in_every_look(page: Page) -> list[str]:
    """Return violations, and sideways scrolling, in both themes at both widths."""
    faults = []
    for width, theme in LOOKS:
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 900})
        faults += [f"{width} {theme} {fault}" for fault in faults_of(page)]
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            faults.append(f"{width} {theme} scrolls sideways: {wide}")
    return faults
