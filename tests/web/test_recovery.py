"""Recovery: cooldowns, failovers, stuck conversations, errors by reason."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from compaction.models import Cooldown
from tests.web.reading import HTMX, count_queries, text_of
from tests.web.rows import a_conversation
from tests.web.run_rows import HOSTILE, a_cooldown, a_fault, a_session as a_bare_session
from tests.web.turn_rows import a_working_turn

pytestmark = pytest.mark.django_db


def recovery(client, query=""):
    return client.get(f"/recovery/{query}")


def on_fallback(**values):
    now = timezone.now().timestamp()
    state = {
        "current": "fallback",
        "on_fallback": True,
        "since": now - 600,
        "limited_until": now + 30,
        "windows": {},
    }
    return a_conversation(endpoint_state={**state, **values}, title="Fallen back")


def test_when_all_is_calm_it_says_so(as_viewer):
    a_conversation()

    page = text_of(recovery(as_viewer))

    assert "Nothing needs you." in page
    assert "No errors in this time" in page


def test_a_cooldown_stands_with_its_rung_and_can_be_cleared_from_here(as_operator):
    conversation = a_conversation(title="Cooling")
    a_cooldown(conversation)

    page = recovery(as_operator)
    cleared = as_operator.post(
        f"/sessions/{conversation.tip_id}/cooldown/clear/", {"next": "/recovery/"}
    )

    assert "rung 2 of the ladder" in text_of(page)
    assert "data-countdown" in page.content.decode()
    assert cleared["Location"] == "/recovery/"
    assert Cooldown.objects.get().cleared_why == "operator"
    assert "Cooling" not in text_of(recovery(as_operator))


def test_a_viewer_sees_a_cooldown_and_no_button(as_viewer):
    a_cooldown(a_conversation(title="Cooling"))

    page = recovery(as_viewer)

    assert "Cooling" in text_of(page)
    assert "/cooldown/clear/" not in page.content.decode()


def test_a_conversation_on_a_fallback_tells_since_when_and_until_when(as_viewer):
    on_fallback()

    page = text_of(recovery(as_viewer))

    assert "fallback Fallen back" in page
    assert "10" in page
    assert "the primary is left alone" in page


@pytest.mark.parametrize("since", ["soon", -5, 1e300, None, True])
def test_a_state_that_makes_no_sense_breaks_no_page(as_viewer, since):
    on_fallback(since=since, limited_until=since)

    assert "the next turn asks the primary again" in text_of(recovery(as_viewer))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"source": "console"}, "Start a fresh session"),
        ({"imported_from": "x"}, "See why"),
    ],
)
def test_a_stuck_conversation_has_one_next_action(as_operator, values, said):
    a_conversation(state="stuck", title="Full", **values)

    page = text_of(recovery(as_operator))

    assert "Full" in page
    assert said in page


def test_errors_are_counted_by_reason_and_lead_to_the_timeline(as_viewer):
    session = a_bare_session()
    for _ in range(3):
        a_fault(session)
    a_fault(a_bare_session(), reason="auth", status_code=401)

    page = recovery(as_viewer)
    narrowed = recovery(as_viewer, "?reason=auth")

    assert [(r.reason, r.count) for r in page.context["recovery"].reasons] == [
        ("rate_limit", 3),
        ("auth", 1),
    ]
    assert (
        f"/sessions/{session.pk}/timeline/?reason=rate_limit" in page.content.decode()
    )
    assert [e.reason for e in narrowed.context["recovery"].errors.rows] == ["auth"]


def test_the_span_leaves_out_what_is_older(as_viewer):
    a_fault(a_bare_session(), at=timezone.now() - timedelta(days=3))

    assert not recovery(as_viewer).context["recovery"].errors.rows
    assert recovery(as_viewer, "?span=week").context["recovery"].errors.rows
    assert recovery(as_viewer, "?span=nonsense").context["query"].span == "day"


def test_every_error_comes_once_when_one_pages_through(as_viewer):
    session, now = a_bare_session(), timezone.now()
    made = {a_fault(session, at=now).pk for _ in range(70)}
    seen, query = [], ""
    while True:
        page = recovery(as_viewer, query)
        seen += [fault.pk for fault in page.context["recovery"].errors.rows]
        query = page.context["paging"]["next_url"]
        if not query:
            break

    assert sorted(seen) == sorted(made)


def test_a_turn_that_waits_is_shown_with_its_end(as_viewer):
    turn = a_working_turn(
        a_bare_session(),
        step="waiting",
        wait_until=timezone.now() + timedelta(seconds=30),
    )

    assert f"/turns/{turn.pk}/" in recovery(as_viewer).content.decode()


def test_the_fragment_is_the_part_that_renews_itself(as_viewer):
    body = as_viewer.get("/recovery/", headers=HTMX).content.decode()

    assert body.lstrip().startswith('<div id="recovery"')


@pytest.mark.parametrize(
    "query", ["?after=x", "?after=%00", "?reason=%00&endpoint=%00"]
)
def test_an_address_that_makes_no_sense_is_no_fault(as_viewer, query):
    assert recovery(as_viewer, query).status_code == 200


def test_hostile_details_are_only_words(as_viewer):
    a_fault(a_bare_session(title=HOSTILE), detail=HOSTILE, endpoint=HOSTILE)

    assert "<script>alert(1)" not in recovery(as_viewer).content.decode()


def test_somebody_without_a_role_sees_nothing(as_stranger):
    assert recovery(as_stranger).status_code == 404


def test_the_number_of_queries_does_not_grow(as_operator):
    a_cooldown(a_conversation())
    a_fault(a_bare_session())
    few = count_queries(as_operator, "/recovery/")
    for _ in range(15):
        a_cooldown(a_conversation())
        a_fault(a_bare_session())
        on_fallback()
        a_conversation(state="stuck")

    assert count_queries(as_operator, "/recovery/") == few
