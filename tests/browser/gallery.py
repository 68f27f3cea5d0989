"""Invented data for one of each component."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace as Thing
from typing import Any

from tests.charts.builders import make_session

NOW = datetime(2026, 11, 30, 14, 28, 28, tzinfo=UTC)
LONG = "a_word_of_many_characters_that_no_browser_may_break_by_itself_" * 3

PAGE = """
{% block breadcrumb %}
  {% include "components/_crumb.html" with url="/sessions/" label="Sessions" only %}
  {% include "components/_crumb.html" with label=long only %}
{% endblock %}
{% block header %}
  <div class="page-head">
    <div>
      <h1>{{ long }}</h1>
      <p class="facts">{% include "components/_live.html" with updated_at=now %}</p>
    </div>
    <div class="actions">{% include "components/_confirm.html" %}</div>
  </div>
  {% include "components/_verdict.html" %}
  {% include "components/_window_bar.html" %}
  {% include "components/_tabs.html" with tabs_label="Session" %}
{% endblock %}
{% block main %}
  {% include "components/_facets.html" %}
  {% include "components/_ruler.html" %}
  <section class="panel listing">
    <header><h2>Messages</h2></header>
    <ol class="messages">
      {% for message in messages_shown %}
        {% include "components/_message.html" %}
      {% endfor %}
    </ol>
  </section>
  <section class="panel">
    <table class="table cards">
      <caption class="unseen">Conversations</caption>
      <thead><tr><th scope="col">State</th><th scope="col">Name</th>
        <th scope="col" class="num" aria-sort="descending"><a href="#">Tokens</a></th>
        <th scope="col">Window</th></tr></thead>
      <tbody>
        {% for state in states %}
          <tr data-row>
            <td>{% include "components/_state.html" with until=later %}</td>
            <td><a class="name" href="#">{{ long }}</a></td>
            <td class="num" data-label="Tokens">
              {% include "components/_tokens.html" with count=9 origin="rough" %}
            </td>
            <td class="wide" data-label="Window">
              {% window_mini window.parts window.limit window.threshold %}
            </td>
          </tr>
        {% endfor %}
      </tbody>
    </table>
  </section>
  {% include "components/_pagination.html" %}
  <section class="panel">
    {% lineage_tree lineage "b" %}
    <div class="body">{% saw_tooth readings 200000 100000 %}</div>
  </section>
  <section class="panel">
    {% for section in sections %}
      {% include "components/_diff_section.html" %}
    {% endfor %}
  </section>
  <section class="panel">
    <header><h2>Run</h2></header>
    <div class="body">{% include "components/_progress.html" %}</div>
  </section>
  {% include "components/_error.html" %}
  <section class="panel">
    {% include "components/_empty.html" with title="Nothing" text="Yet." is_good=True %}
    {% include "components/_skeleton.html" %}
  </section>
  <section class="panel">
    <header><h2>Raw</h2></header>
    {% include "components/_raw.html" with text=long name="raw" label="Raw" %}
  </section>
  {% for fate in fates %}{% include "components/_chip.html" %}{% endfor %}
{% endblock %}
{% block aside %}
  <section class="panel">
    <header><h2>Policy</h2><a href="#">Change</a></header>
    <div class="body">
      {% include "components/_kv.html" %}
      {% include "components/_todo.html" %}
      <ul class="events">{% include "components/_event.html" %}</ul>
      <ul class="events long">
        {% include "components/_event.html" with is_long=True %}
      </ul>
    </div>
  </section>
{% endblock %}
"""


def make_gallery() -> dict[str, Any]:
    """Return what `PAGE` shows."""
    return {
        "now": NOW,
        "later": NOW + timedelta(seconds=222),
        "long": LONG,
        "states": ["queued", "in_progress", "stuck", "cooldown", "idle", "running"],
        "fates": ["head", "summarised", "pruned", "tail", "pinned", "dropped"],
        **_whole_session(),
        **_parts_of_a_page(),
    }


def _whole_session() -> dict[str, Any]:
    kinds = ("system", "tools", "task", "summary", "head", "middle", "tail")
    return {
        "window": Thing(
            parts=[Thing(kind=kind, tokens=14_000) for kind in kinds],
            limit=200_000,
            threshold=100_000,
            origin="provider",
            measured_at=152,
            error=-0.02,
        ),
        "ruler": Thing(
            items=make_session(4, 124, 25), at_url="#", shown_from=0, shown_to=9
        ),
        "messages_shown": [_message(n, fate) for n, fate in enumerate(_FATES)],
        "lineage": [
            _generation("a", None, link="root"),
            _generation("x", "a", link="branch"),
            _generation("b", "a", is_tip=True, tokens_before=900),
        ],
        "readings": [
            Thing(tokens=tokens, compacted=tokens == 30, label="")
            for tokens in (10, 90, 30, 60)
        ],
    }


_FATES = ("head", "summarised", "pruned", "tail")


def _message(position: int, fate: str) -> Thing:
    return Thing(
        position=position,
        role=("system", "assistant", "tool", "user")[position],
        kind="plain",
        text=f"{LONG} 继续。",
        calls=[("read_file", f'path="{LONG}"')] if position == 1 else [],
        is_mono=position == 2,
        region=("head", "middle", "middle", "tail")[position],
        fate=fate,
        rule="tail: newest user message, word for word",
        tokens=1_234_567,
        tokens_after=18 if fate == "pruned" else None,
        full_url="",
    )


def _generation(name: str, parent: str | None, **more: Any) -> Thing:
    usual = {
        "link": "compaction",
        "undone": False,
        "title": LONG,
        "url": "#",
        "generation": 2,
        "message_count": 90,
        "tokens": 400,
        "tokens_before": None,
        "started_at": NOW,
        "end_reason": "compression",
        "is_tip": False,
    }
    return Thing(id=name, parent_id=parent, **{**usual, **more})


def _parts_of_a_page() -> dict[str, Any]:
    item = Thing(
        change="added", text=LONG, pieces=None, sources=[Thing(position=8, url="#")]
    )
    return {
        "confirm": Thing(
            id="sure",
            label="Compact now",
            title="Sure?",
            text=LONG,
            action="/",
            button="Compact",
            level="reason",
            tone="primary",
        ),
        "verdict": Thing(tone="warn", headline="Over the threshold.", text=LONG),
        "tabs": [
            Thing(label="Context", url="#", count=None, is_current=True),
            Thing(label="Summaries", url="#", count=2, is_current=False),
        ],
        "facets": [
            Thing(
                name="source",
                choices=[
                    Thing(label=LONG, url="#", count=9, is_on=True),
                    Thing(label="API", url="#", count=1, is_on=False),
                ],
            )
        ],
        "paging": Thing(
            first=1, last=50, total=1_204, size=50, previous_url="#", next_url="#"
        ),
        "sections": [
            Thing(heading="Goal", note="1 added", before=[], after=[item]),
            Thing(heading="Done", note="", before=[item], after=[]),
        ],
        "progress": Thing(
            steps=[
                Thing(label="Plan", state="done", took=0.04),
                Thing(label="Summarise", state="now", took=None),
                Thing(label="Save", state="", took=None),
            ],
            done=3,
            total=9,
            note="attempt 1",
            text=LONG,
        ),
        "fault": Thing(
            title="Refused",
            happened="The endpoint answered 401.",
            kept="All messages.",
            remedy="Set the key.",
            detail=LONG,
            number="7",
            url="#",
            label="Again",
        ),
        "pairs": [Thing(name="threshold", value="50 %", origin="default")],
        "task": Thing(
            goal=LONG,
            version=2,
            by_agent=True,
            changed_at=NOW,
            todos=[Thing(subject=LONG, status="completed")],
        ),
        "event": Thing(
            at=NOW, tone="bad", headline="429", text="then", detail=LONG, url="#"
        ),
    }
