"""Everything that happened, newest first."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from compaction.models import Session
from compaction.services.audit import Change, record_action
from compaction.services.memory import add_memory
from compaction.store import NewSummary, add_summary
from tests.web.reading import HTMX, count_queries, text_of
from tests.web.run_rows import (
    HOSTILE,
    a_cooldown,
    a_failed_run,
    a_fault,
    a_session,
    an_ended_run,
)
from tests.web.turn_rows import a_turn

pytestmark = pytest.mark.django_db


def address_of(session: Session, query: str = "") -> str:
    return f"/sessions/{session.pk}/timeline/{query}"


def events_of(client, session: Session, query: str = ""):
    return client.get(address_of(session, query)).context["timeline"].events


def an_edit(session: Session, operator) -> None:
    new = NewSummary(
        text="x", origin="edited", tokens=1, author=operator, reason="too long"
    )
    add_summary(session, new, previous=None)


def test_a_cooldown_leads_to_the_run_that_started_it(as_viewer):
    session = a_session()
    run = a_failed_run(session, reason="overloaded")
    a_cooldown(session.conversation, run=run)

    page = as_viewer.get(address_of(session, "?kind=cooldown")).content.decode()

    assert f'href="/runs/{run.pk}/"' in page


def test_all_that_happened_is_told_newest_first(as_viewer, operator):
    session = a_session()
    an_ended_run(session)
    a_failed_run(session, reason="overloaded")
    a_fault(session, status_code=429, detail="slow down")
    a_cooldown(session.conversation, cleared_at=timezone.now(), cleared_why="operator")
    record_action(operator, "clear_cooldown", session, change=Change(reason="urgent"))
    an_edit(session, operator)

    response = as_viewer.get(address_of(session))

    times = [event.at for event in response.context["timeline"].events]
    assert times == sorted(times, reverse=True)
    page = text_of(response)
    for said in (
        "120,000 → 30,000",
        "overloaded",
        "429 rate limited",
        "slow down",
        "Cooldown of 5 min",
        "olaf cleared the cooldown",
        "urgent",
        "edited by olaf",
        "Session 1 began",
    ):
        assert said in page, said


def test_a_compaction_is_told_once_by_the_session_it_made(as_viewer):
    session = a_session()
    older = Session.objects.create(
        id="older",
        conversation=session.conversation,
        started_at=timezone.now() - timedelta(days=1),
        ended_at=timezone.now(),
        end_reason="compression",
    )
    session.parent, session.link, session.generation = older, "compaction", 2
    session.save()

    page = text_of(as_viewer.get(address_of(session)))

    assert "Session 2 began : the conversation goes on here" in page
    assert "Session 1 ended" not in page


def test_a_kind_without_events_says_so_and_leads_back(as_viewer):
    session = a_session()

    page = text_of(as_viewer.get(address_of(session, "?kind=run")))

    assert "No event of this kind" in page


@pytest.mark.parametrize("kind", ["run", "error", "cooldown", "operator", "summary"])
def test_one_kind_can_be_asked_for(as_viewer, operator, kind):
    session = a_session()
    an_ended_run(session)
    a_fault(session)
    a_cooldown(session.conversation)
    record_action(operator, "set_policy", session)
    an_edit(session, operator)

    kinds = {event.kind for event in events_of(as_viewer, session, f"?kind={kind}")}

    assert kinds == {kind}


def test_a_kind_that_is_none_shows_all(as_viewer):
    session = a_session()
    a_fault(session)

    assert len(events_of(as_viewer, session, "?kind=nonsense")) == 2


def test_events_of_other_conversations_are_not_told(as_viewer):
    session, other = a_session(), a_session()
    a_fault(other)
    an_ended_run(other)
    a_cooldown(other.conversation)

    assert {event.kind for event in events_of(as_viewer, session)} == {"session"}


def test_pages_follow_one_another_without_gap_or_repeat_at_one_moment(as_viewer):
    session, moment = a_session(), timezone.now()
    for number in range(70):
        a_fault(session, at=moment)
        an_ended_run(session, finished_at=moment)
        if number % 2:
            a_cooldown(session.conversation, started_at=moment)

    seen, query = [], ""
    while True:
        timeline = as_viewer.get(address_of(session, query)).context["timeline"]
        seen += [event.key for event in timeline.events]
        if not timeline.after:
            break
        query = f"?after={timeline.after.replace('+', '%2B')}"

    assert len(seen) == len(set(seen)) == 70 + 70 + 35 + 1


@pytest.mark.parametrize(
    "place",
    [
        "x",
        "~~",
        "2026-01-01~0~1",
        "2026-01-01T00:00:00+00:00~99~1",
        "2026-01-01T00:00:00+00:00~1~no-number",
    ],
)
def test_a_place_that_makes_no_sense_begins_at_the_start(as_viewer, place):
    session = a_session()
    a_fault(session)

    assert len(events_of(as_viewer, session, f"?after={place}")) == 2


def test_one_session_of_several_can_be_told_alone(as_viewer):
    session = a_session()
    older = Session.objects.create(
        id="older",
        conversation=session.conversation,
        started_at=timezone.now() - timedelta(days=1),
    )
    a_fault(older)
    mine = a_fault(session)

    shown = events_of(as_viewer, session, "?scope=session&kind=error")

    assert [event.row for event in shown] == [mine]


def test_the_first_page_renews_itself_and_older_ones_do_not(as_viewer):
    session = a_session()
    a_fault(session)
    first = as_viewer.get(address_of(session)).content.decode()
    place = "2027-01-01T00:00:00%2B00:00~0~00000000000000000000000000000000"
    older = as_viewer.get(address_of(session, f"?after={place}")).content.decode()

    assert "every 5s" in first
    assert "every 5s" not in older


def test_htmx_gets_the_events_alone(as_viewer):
    page = as_viewer.get(address_of(a_session()), headers=HTMX).content.decode()

    assert page.lstrip().startswith('<div id="timeline"')


def test_hostile_text_is_shown_and_does_nothing(as_viewer, operator):
    session = a_session()
    a_fault(session, detail=HOSTILE, endpoint=HOSTILE, reason=HOSTILE[:40])
    a_cooldown(session.conversation, error=HOSTILE)
    record_action(operator, "compact", session, change=Change(reason=HOSTILE))

    page = as_viewer.get(address_of(session)).content.decode()

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "\u202e" not in page


def test_a_stranger_finds_nothing(as_stranger):
    assert as_stranger.get(address_of(a_session())).status_code == 404


def test_more_events_cost_no_more_queries(as_viewer, operator):
    def fill(session: Session) -> None:
        an_ended_run(session)
        a_fault(session)
        a_cooldown(session.conversation)
        record_action(operator, "compact", session)
        an_edit(session, operator)

    few, many = a_session(), a_session()
    fill(few)
    for _ in range(15):
        fill(many)

    assert count_queries(as_viewer, address_of(few)) == count_queries(
        as_viewer, address_of(many)
    )


def test_the_tab_counts_what_the_page_holds(as_viewer, operator):
    session = a_session()
    an_ended_run(session)
    a_fault(session)
    a_fault(session, kind="failed_over", reason="", before="primary", after="fallback")
    a_cooldown(session.conversation, cleared_at=timezone.now(), cleared_why="success")
    a_cooldown(session.conversation, cleared_at=timezone.now(), cleared_why="operator")
    record_action(operator, "compact", session)
    record_action(operator, "clear_cooldown", session)
    add_memory(session.conversation, "Seven pears.", operator=operator)
    a_turn(session)
    an_edit(session, operator)
    Session.objects.filter(pk=session.pk).update(
        ended_at=timezone.now(), end_reason="done"
    )

    page = as_viewer.get(address_of(session))

    timeline = page.context["timeline"]
    assert timeline.total == len(timeline.events)
    assert page.context["header"].counts.events == timeline.total
    assert timeline.counts["recovery"] == timeline.counts["turn"] == 1


def test_several_kinds_are_shown_together_and_each_can_be_taken_back(as_viewer):
    session = a_session()
    an_ended_run(session)
    a_fault(session)

    page = as_viewer.get(address_of(session, "?kind=run&kind=error"))

    kinds = {event.kind for event in page.context["timeline"].events}
    chosen = {f["kind"]: f["query"] for f in page.context["facets"] if f["is_on"]}
    assert kinds == {"run", "error"}
    assert chosen == {"run": "?kind=error", "error": "?kind=run"}


def test_a_reason_shows_its_errors_alone(as_viewer):
    session = a_session()
    an_ended_run(session)
    a_fault(session)
    a_fault(session, reason="auth", status_code=401)

    page = as_viewer.get(address_of(session, "?reason=auth"))

    assert [e.row.reason for e in page.context["timeline"].events] == ["auth"]
    assert [r["reason"] for r in page.context["reasons"]] == ["auth", "rate_limit"]


def test_an_error_of_a_turn_tells_everything_that_was_decided(as_viewer):
    session = a_session()
    turn = a_turn(session)
    a_fault(
        session,
        turn=turn,
        action="retry",
        attempt=2,
        attempts=4,
        delay=7,
        retry_after=7,
        should_fallback=True,
        stated_window=64_000,
    )

    page = as_viewer.get(address_of(session, "?kind=error"))

    text = text_of(page)
    for told in (
        "429 rate limited",
        "attempt 2 of 4",
        "after 7",
        "another endpoint helps",
        "the provider asked to wait 7",
        "a window of 64,000 tokens",
    ):
        assert told in text
    assert f'href="/turns/{turn.pk}/"' in page.content.decode()
