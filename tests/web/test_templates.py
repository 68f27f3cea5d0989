"""What every template has to keep, whoever writes it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.template.loader import get_template

ROOT = Path(__file__).parents[2] / "templates"
NAMES = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.html"))
COMPONENTS = [name for name in NAMES if name.startswith("components/")]

HTMX = re.compile(r"\s(hx-[a-z-]+)(?::[\w:-]+)?=")
HARMLESS = {"hx-nonce", "hx-target", "hx-swap", "hx-select"}
TAG = re.compile(r"<[a-zA-Z][^<>]*(?:{[{%].*?[%}]}[^<>]*)*>", re.S)
COMMENT = re.compile(r"{% comment %}.*?{% endcomment %}", re.S)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def tags_of(name: str) -> list[str]:
    return TAG.findall(COMMENT.sub("", read(name)))


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_compiled(name):
    get_template(name)


@pytest.mark.parametrize("name", NAMES)
def test_it_refers_to_no_other_host(name):
    found = re.findall(
        r"""(?:src|href|action|content)=["']?(?:https?:)?//""", read(name)
    )

    assert found == []


@pytest.mark.parametrize("name", NAMES)
def test_it_has_no_inline_style_or_script(name):
    text = COMMENT.sub("", read(name))

    assert not re.search(r"\sstyle\s*=|<style\b", text)
    assert not re.search(r"\son[a-z]+\s*=|hx-on|javascript:|[\"']js:", text)
    assert not re.findall(r"<script(?![^>]*\bsrc=)[^>]*>", text)


@pytest.mark.parametrize("name", NAMES)
def test_what_htmx_shall_obey_carries_the_nonce(name):
    bare = [
        tag
        for tag in tags_of(name)
        if set(HTMX.findall(tag)) - HARMLESS and 'hx-nonce="{{ ' not in tag
    ]

    assert bare == []


@pytest.mark.parametrize("name", NAMES)
def test_foreign_text_is_always_escaped(name):
    assert not re.search(r"\|\s*safe\b|autoescape off|\|safeseq", read(name))


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_component_says_at_its_top_what_it_needs(name):
    head = read(name)[:800]

    assert "{% comment %}" in head
    assert re.search(r"Context|No context", head)


def test_a_form_that_changes_something_carries_its_token():
    bare = [
        name
        for name in NAMES
        for form in re.findall(r"<form\b.*?</form>", read(name), re.S)
        if re.search(r'method="post"', form) and "{% csrf_token %}" not in form
    ]

    assert bare == []
