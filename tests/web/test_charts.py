"""Charts and components as they arrive in a page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
from django.template import Context, Template
from django.template.loader import render_to_string
from django.utils import translation

from tests.charts.builders import Measure, make_session

HOSTILE = '"><script>alert(1)</script>\x00\ud800\u202e'


@dataclass(frozen=True)
class Part:
    kind: str
    tokens: int


@dataclass(frozen=True)
class Generation:
    id: str
    title: str
    parent_id: str | None = None
    link: str = "compaction"
    undone: bool = False
    url: str = "/sessions/x/"
    generation: int = 1
    message_count: int = 3
    tokens: int = 10
    tokens_before: int | None = None
    started_at: None = None
    end_reason: str = ""
    is_tip: bool = False


def draw(source: str, **context: object) -> str:
    text = Template("{% load compaction_charts %}" + source).render(Context(context))
    text.encode("utf-8")
    return text


def parse(svg: str) -> ET.Element:
    return ET.fromstring(svg.strip())


def test_the_parts_of_a_window_fill_its_bar():
    parts = [Part("system", 4_120), Part("middle", 98_104), Part("tail", 20_048)]

    root = parse(draw("{% window_mini parts 200000 100000 %}", parts=parts))

    widths = [float(r.get("width", "0%").rstrip("%")) for r in root.findall("rect")]
    assert sum(widths) == pytest.approx(100, abs=0.05)


def test_a_chart_has_points_in_every_language():
    with translation.override("de"):
        text = draw("{% window_mini parts 3 %}", parts=[Part("head", 1)])

    assert 'width="33.33%"' in text


def test_the_window_bar_says_in_words_what_it_shows():
    text = draw("{% window_bar parts 200000 100000 %}", parts=[Part("middle", 98_104)])

    title = parse(text).findtext("title")
    assert title is not None
    assert "98,104 of 200,000 tokens" in title
    assert "threshold 100,000" in text


def test_bands_of_the_ruler_meet_and_fill_it():
    root = parse(draw("{% ruler items %}", items=make_session(4, 124, 25)))

    bands = [r for r in root.findall("rect") if "band" in r.get("class", "")]
    widths = [float(band.get("width", "0%").rstrip("%")) for band in bands]
    assert len(bands) == 3
    assert sum(widths) == pytest.approx(100, abs=0.05)


def test_a_ruler_of_ten_thousand_messages_stays_a_small_part_of_a_page():
    text = draw("{% ruler items %}", items=make_session(4, 9_971, 25))

    assert text.count("data-at=") <= 1_000
    assert "<title>" not in text
    assert len(text.encode()) < 110_000


def test_hostile_roles_are_harmless_in_a_ruler():
    text = draw("{% ruler items %}", items=[Measure(0, role=HOSTILE)])

    assert "<script" not in text
    bars = [rect for rect in parse(text).iter("rect") if rect.get("data-at")]
    assert "script" in (bars[0].findtext("title") or "")


def test_the_lineage_names_every_session_and_escapes_its_title():
    rows = [
        Generation("a", HOSTILE, link="root"),
        Generation("b", "second", "a", is_tip=True, tokens_before=90),
    ]

    text = draw('{% lineage_tree rows "b" %}', rows=rows)

    assert len(re.findall(r"<li\b", text)) == 2
    assert text.count('aria-current="true"') == 1
    assert "<script" not in text


def test_a_saw_tooth_counts_its_compactions_in_words():
    readings = [
        SimpleNamespace(tokens=10, compacted=False, label=""),
        SimpleNamespace(tokens=90, compacted=False, label=""),
        SimpleNamespace(tokens=20, compacted=True, label="now"),
    ]

    title = parse(draw("{% saw_tooth r 100 50 %}", r=readings)).findtext("title")

    assert title is not None
    assert "1 compaction" in title
    assert "now 20" in title


def test_a_trend_of_one_value_is_not_drawn():
    assert "<svg" not in draw("{% sparkline one %}", one=[5])
    assert "<svg" in draw('{% sparkline two "trend" %}', two=[5, 6])


@dataclass
class Message:
    position: int = 7
    role: str = "user"
    kind: str = "plain"
    text: str = "hello"
    is_mono: bool = False
    calls: list[tuple[str, str]] = field(default_factory=list)
    region: str = "middle"
    fate: str = "summarised"
    rule: str = ""
    tokens: int = 41
    tokens_after: int | None = None
    full_url: str | None = None


def test_a_hostile_message_is_shown_and_does_nothing():
    message = Message(text=HOSTILE, role=HOSTILE, calls=[(HOSTILE, HOSTILE)])

    text = render_to_string("components/_message.html", {"message": message})

    text.encode("utf-8")
    assert "<script" not in text
    assert "\x00" not in text
    assert "⟨U+202E⟩" in text
    assert 'class="role other"' in text


def test_text_of_a_message_is_kept_from_htmx():
    text = render_to_string("components/_message.html", {"message": Message()})

    said = text.split('class="said"', 1)[1].split("</div>", 1)[0]
    assert said.startswith(" hx-ignore")
    assert "hello" in said


@pytest.mark.parametrize(
    ("origin", "word"),
    [("provider", "measured"), ("tiktoken", "counted"), ("rough", "estimated")],
)
def test_a_number_of_tokens_says_where_it_comes_from(origin, word):
    text = render_to_string("components/_tokens.html", {"count": 5, "origin": origin})

    assert word in text


def test_a_todo_is_told_by_sign_and_word():
    task = SimpleNamespace(
        goal=HOSTILE,
        version=0,
        todos=[SimpleNamespace(subject=HOSTILE, status="in_progress")],
    )

    text = render_to_string("components/_todo.html", {"task": task})

    assert "[~]" in text
    assert "in progress:" in text
    assert "<script" not in text


def test_a_confirmation_is_a_real_form_that_opens_without_script():
    confirm = {
        "id": "clear",
        "label": "Clear",
        "title": "Clear?",
        "text": "Consequence.",
        "action": "/x/",
        "button": "Clear it",
        "level": "reason",
    }

    text = render_to_string("components/_confirm.html", {"confirm": confirm})

    assert 'command="show-modal" commandfor="clear"' in text
    assert '<form method="post" action="/x/">' in text
    assert 'name="reason" maxlength="255" required' in text
