"""The track of evidence on the Lineage page, and what an agent knew at a message."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.urls import reverse

from compaction.engine.evidence.items import EvidenceKind
from compaction.engine.messages import Role
from compaction.engine.tokens import RoughCounter
from compaction.models import EvidenceTrace, Session
from compaction.selectors import survival
from compaction.services.evidence_traces import trace_lineage
from compaction.services.runs.starting import RunRequest, queue_run
from compaction.services.runs.work import perform_run
from compaction.services.summaries import SummaryEdit, edit_summary
from compaction.store import NewMessage, summary_in_force, write_messages
from compaction.store.evidence_traces import read_lives
from tests.conversations import answer, call, long_work, say, store_session
from tests.services.run_fixtures import POLICY

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def parent() -> Session:
    return store_session(long_work())


@pytest.fixture
def child(parent: Session) -> Session:
    """Compacted; its summary lost the files, then one is read again."""
    policy = POLICY.evolve(context_length=8_000, prune_enough=None)
    queued = queue_run(parent, RunRequest(policy=policy))
    assert queued.run is not None
    perform_run(queued.run.pk)
    session = Session.objects.get(parent=parent)
    current = summary_in_force(session)
    assert current is not None
    text = "## Goal\nTidy the sample."
    edit_summary(
        session, SummaryEdit(text=text, base_revision=current.revision), operator=None
    )
    session.refresh_from_db()
    new = [say(Role.ASSISTANT, "Where was I?"), call(902, "src/part_2.py")]
    new.append(answer(902, "x"))
    write_messages(
        session, [NewMessage(message=m) for m in new], counter=RoughCounter()
    )
    session.refresh_from_db()
    return session


def page(client: Any, name: str, session: Session, query: str = "") -> str:
    response = client.get(reverse(name, args=[session.pk]) + query)
    assert response.status_code == 200
    return str(response.content.decode())


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def row_of(html: str, text: str) -> str:
    rows = [row for row in html.split("<tr") if text in row]
    assert len(rows) == 1, len(rows)
    return rows[0]


def test_a_lost_file_is_shown_with_its_message_and_the_run_that_lost_it(
    as_viewer: Any, parent: Session, child: Session
) -> None:
    row = row_of(
        page(as_viewer, "session-lineage", child, "?kind=file&end=lost"),
        "src/part_5.py",
    )

    position = parent.messages.get(calls__0__1="read_file", calls__0__0="call_5")
    url = reverse("session-message", args=[parent.pk, position.position])
    assert f'href="{url}?exact=1"' in row
    assert "introduced" in row
    assert "■" in row
    assert "lost" in words(row)
    run = parent.runs.get()
    assert reverse("run", args=[run.pk]) in row


def test_what_was_read_again_links_to_where(as_viewer: Any, child: Session) -> None:
    html = page(as_viewer, "session-lineage", child, "?kind=file&end=again")

    place = child.message_count - 2
    url = reverse("session-message", args=[child.pk, place])
    assert f'href="{url}?exact=1"' in row_of(html, "src/part_2.py")


def test_the_first_page_shows_what_is_lost_and_the_rest_follows(
    as_viewer: Any, child: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survival, "ROWS_SHOWN", 5)
    html = page(as_viewer, "session-lineage", child)

    body = html.split("<tbody>")[-1].split("</tbody>")[0]
    assert body.count("<tr") == 5
    assert re.search(r"1–5 of \d+", words(html))
    assert body.count("■") >= 5
    assert 'rel="next"' in html
    later = page(as_viewer, "session-lineage", child, "?start=5")
    assert later.split("<tbody>")[-1].split("</tbody>")[0] != body
    assert re.search(r"6–10 of \d+", words(later))


def test_a_cell_names_its_session_where_the_table_turns_into_cards(
    as_viewer: Any, child: Session
) -> None:
    row = row_of(
        page(as_viewer, "session-lineage", child, "?kind=file&end=lost"),
        "src/part_5.py",
    )

    assert re.findall(r'data-label="([^"]*)"', row) == ["Session 1", "Session 2"]


def test_a_filter_that_nobody_wrote_is_no_filter(
    as_viewer: Any, child: Session
) -> None:
    assert "What survived" in page(
        as_viewer, "session-lineage", child, "?end=%00&kind=<x>&start=-3"
    )


def test_a_session_without_messages_says_that_there_is_nothing(as_viewer: Any) -> None:
    assert "Nothing to follow" in page(as_viewer, "session-lineage", store_session([]))


def test_a_large_lineage_waits_for_a_worker_and_then_shows_its_answer(
    as_viewer: Any, child: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(survival, "AT_ONCE_TOKENS", 10)
    monkeypatch.setattr(
        "compaction.tasks.ask_for_trace", lambda session: asked.append(session.pk)
    )

    html = page(as_viewer, "session-lineage", child)
    assert "A worker follows the evidence" in html
    assert 'aria-busy="true"' in html
    assert "What survived found by rules" in words(html)  # not "none": nobody looked
    assert asked == [child.pk]

    assert trace_lineage(child.pk)
    assert not trace_lineage(child.pk)
    assert "src/part_5.py" in page(as_viewer, "session-lineage", child, "?kind=file")
    assert asked == [child.pk]


def test_an_older_answer_is_shown_as_such_and_brought_up_to_date(
    as_viewer: Any, child: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(survival, "AT_ONCE_TOKENS", 10)
    monkeypatch.setattr(
        "compaction.tasks.ask_for_trace", lambda session: asked.append(session.pk)
    )
    trace_lineage(child.pk)
    EvidenceTrace.objects.update(mark="older")

    html = page(as_viewer, "session-lineage", child)

    assert "the lineage changed since" in html
    assert "src/part_5.py" in page(as_viewer, "session-lineage", child, "?kind=file")
    assert asked


def test_a_stored_answer_is_the_one_worked_out(child: Session) -> None:
    at_once = survival.traced(child).lives
    trace_lineage(child.pk)

    assert read_lives(EvidenceTrace.objects.get()) == at_once


def test_at_a_message_it_says_what_was_gone_and_what_had_come_back(
    as_viewer: Any, child: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compaction.selectors.known.MISSING_SHOWN", 10_000)
    last = child.message_count - 1
    before = page(as_viewer, "session-known", child, f"?at={last - 2}")
    after = page(as_viewer, "session-known", child, f"?at={last}")

    assert "src/part_2.py" in before
    assert "src/part_2.py" not in after
    assert "src/part_5.py" in after
    assert "revision" in after
    assert "Tidy the sample." in after


def test_before_any_compaction_nothing_is_missing(
    as_viewer: Any, parent: Session, child: Session
) -> None:
    html = page(as_viewer, "session-known", parent, "?exact=1&at=9")

    assert "Nothing: all evidence told before still stood in the window." in html
    assert "nothing had been summarised" in html


def test_a_message_that_is_not_there_is_not_found(
    as_viewer: Any, child: Session
) -> None:
    url = reverse("session-known", args=[child.pk])

    assert as_viewer.get(f"{url}?at=99999").status_code == 404


def test_a_message_leads_to_what_was_known_there(
    as_viewer: Any, child: Session
) -> None:
    for name in ("session-message", "session-raw-message"):
        html = as_viewer.get(reverse(name, args=[child.pk, 3])).content.decode()
        assert reverse("session-known", args=[child.pk]) in html


@pytest.mark.parametrize("kind", sorted(EvidenceKind))
def test_a_kind_has_one_name_on_all_pages(kind: EvidenceKind) -> None:
    track = render_to_string("compaction/lineage/_kind.html", {"kind": kind}).strip()
    losses = render_to_string("compaction/losses/_kind.html", {"kind": kind}).strip()

    assert losses.removeprefix("open ") == track.removeprefix("open ")


def test_strangers_see_neither(client: Any, child: Session) -> None:
    for name in ("session-lineage", "session-known"):
        response = client.get(reverse(name, args=[child.pk]))
        assert response.status_code == 302
