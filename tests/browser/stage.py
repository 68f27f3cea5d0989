"""A page of our templates, style and scripts in a real browser, without a server.

The template is rendered here and handed to Chromium under the policy of the console;
static files come from the folder itself. For pages with data see `Console`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

from django.template import engines
from django.test import RequestFactory
from playwright.sync_api import Page, Route

ROOT = Path(__file__).parents[2]
HOST = "http://127.0.0.1:1"
POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-n0nce'; style-src 'self'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'"
)
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PERSON = SimpleNamespace(is_authenticated=True, get_username="olaf")


@dataclass(kw_only=True)
class Stage:
    """Shows `source` (blocks of base.html) at every address; notes what is sent."""

    page: Page
    source: str
    context: Mapping[str, object] = field(default_factory=dict)
    posted: list[dict[str, list[str]]] = field(default_factory=list)

    def open(self, path: str = "/") -> Page:
        """Render, show, and return the page."""
        self.page.route(f"{HOST}/**", self._answer)
        self.page.goto(HOST + path)
        return self.page

    def _answer(self, route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path.startswith("/static/"):
            file = ROOT / path.lstrip("/")
            kind = TYPES.get(file.suffix, "font/woff2")
            route.fulfill(body=file.read_bytes(), content_type=kind)
            return
        if route.request.method == "POST":
            self.posted.append(parse_qs(route.request.post_data or ""))
        route.fulfill(
            body=self._render(route),
            content_type="text/html; charset=utf-8",
            headers={"Content-Security-Policy": POLICY},
        )

    def _render(self, route: Route) -> str:
        request = RequestFactory().get("/")
        request.COOKIES = {
            str(cookie["name"]): str(cookie["value"])
            for cookie in self.page.context.cookies()
        }
        vars(request).update(user=PERSON, csp_nonce="n0nce")
        template = engines["django"].from_string(
            '{% extends "base.html" %}{% load compaction_format compaction_charts %}'
            "{% block title %}Stage{% endblock %}" + self.source
        )
        return template.render(dict(self.context), request)
