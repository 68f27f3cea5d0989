"""The Sessions page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from compaction.models import Cooldown, Run
from compaction.sources.detection import READERS
from tests.web.rows import (
    NOON,
    a_conversation,
    a_session,
    many_conversations,
    titles,
    user,
)

pytestmark = pytest.mark.django_db


def shown(client: Client, address: str = "/sessions/") -> list[str]:
    return titles(client.get(address).context["list"].rows)


def test_a_viewer_sees_conversations_newest_first(as_viewer):
    a_conversation(title="older", active_at=NOON)
    a_conversation(title="newer", active_at=NOON + timedelta(hours=1))

    assert shown(as_viewer) == ["newer", "older"]


@pytest.mark.parametrize("source", [reader.FORMAT for reader in READERS])
def test_every_format_that_can_be_imported_has_a_name_in_the_list(as_viewer, source):
    a_conversation(title="one", source=source)

    page = as_viewer.get("/sessions/").content.decode()

    name = render_to_string("compaction/sessions/_source.html", {"source": source})
    assert name.strip() in page
    assert "_" not in name


def test_a_stranger_finds_nothing_at_this_address(stranger, client):
    client.force_login(stranger)

    assert client.get("/sessions/").status_code == 404


def test_somebody_not_signed_in_is_asked_to(client):
    response = client.get("/sessions/?state=stuck")

    assert response.status_code == 302
    assert response["Location"].endswith("next=/sessions/%3Fstate%3Dstuck")


def test_a_script_that_is_not_signed_in_gets_401(client):
    response = client.get("/sessions/", headers={"Accept": "application/json"})

    assert response.status_code == 401


def test_htmx_is_sent_to_sign_in_and_swaps_nothing(client):
    response = client.get("/sessions/", headers={"HX-Request": "true"})

    assert response.status_code == 204
    assert "sign-in" in response["HX-Redirect"]


def test_the_fragment_has_the_rows_and_no_frame(as_viewer):
    a_conversation(title="only one")

    response = as_viewer.get("/sessions/", headers={"HX-Request": "true"})

    text = response.content.decode()
    assert text.lstrip().startswith('<div id="session-list"')
    assert "only one" in text
    assert "<html" not in text
    assert "HX-Request" in response["Vary"]


def test_a_lineage_is_one_row_with_a_badge(as_viewer):
    a_conversation(title="long one", session_count=3)

    assert "×3" in as_viewer.get("/sessions/").content.decode()


def test_the_row_leads_to_the_tip(as_viewer):
    conversation = a_conversation(title="mine")

    page = as_viewer.get("/sessions/").content.decode()

    assert f'href="/sessions/{conversation.tip_id}/"' in page


def test_a_cooldown_is_shown_with_its_end(as_viewer):
    conversation = a_conversation(state="over_threshold")
    until = timezone.now() + timedelta(minutes=5)
    Cooldown.objects.create(
        conversation=conversation,
        started_at=timezone.now(),
        until=until,
        seconds=300,
        reason="rate_limit",
    )

    response = as_viewer.get("/sessions/")

    assert response.context["list"].rows[0].facts.state == "cooldown"
    assert f'data-countdown="{until:%s}"' in response.content.decode()


def test_a_cleared_cooldown_is_not_shown(as_viewer):
    conversation = a_conversation(state="over_threshold")
    now = timezone.now()
    Cooldown.objects.create(
        conversation=conversation,
        started_at=now,
        until=now + timedelta(minutes=5),
        seconds=300,
        reason="rate_limit",
        cleared_at=now,
    )

    rows = as_viewer.get("/sessions/").context["list"].rows

    assert rows[0].facts.state == "over_threshold"


def test_a_run_on_its_way_is_shown(as_viewer):
    session = a_session([])
    Run.objects.create(
        session=session,
        idempotency_key="k",
        trigger="manual",
        session_revision=1,
        queued_at=timezone.now(),
    )

    assert as_viewer.get("/sessions/").context["list"].rows[0].facts.state == (
        "in_progress"
    )
    assert shown(as_viewer, "/sessions/?state=running") == [session.title]


def test_facets_count_what_choosing_them_would_leave(as_viewer):
    a_conversation(state="stuck", source="codex")
    a_conversation(state="stuck")
    a_conversation(state="idle", source="codex")

    facets = as_viewer.get("/sessions/?source=codex").context["facets"]

    assert {f.value: f.count for f in facets.states} == {
        "attention": 1,
        "stuck": 1,
        "idle": 1,
    }
    assert {f.value: f.count for f in facets.sources} == {"codex": 2, "hermes": 1}
    assert facets.total == 2


def test_filters_narrow_the_list(as_viewer):
    a_conversation(title="a", state="stuck", source="codex", model="m1")
    a_conversation(title="b", state="stuck", source="codex", model="")
    a_conversation(title="c", state="stuck", source="hermes", model="m1")
    a_conversation(title="d", state="idle", source="codex", model="m1")

    assert shown(as_viewer, "/sessions/?state=stuck&source=codex&model=m1") == ["a"]
    assert shown(as_viewer, "/sessions/?model=-") == ["b"]


def test_attention_gathers_stuck_over_threshold_and_cooling(as_viewer):
    a_conversation(title="calm")
    a_conversation(title="stuck", state="stuck")
    a_conversation(title="over", state="over_threshold")

    assert shown(as_viewer, "/sessions/?state=attention") == ["over", "stuck"]


@pytest.mark.parametrize(
    "sort", ["active", "-active", "tokens", "-tokens", "fill", "-fill"]
)
def test_paging_meets_every_row_once_in_both_directions_despite_ties(as_viewer, sort):
    for index in range(130):
        a_conversation(
            title=f"{index:03}",
            tokens=index // 40,
            fill=(index // 40) / 10,
            active_at=NOON + timedelta(seconds=index // 40),
        )

    pages, address = [], f"/sessions/?sort={sort}"
    while address:
        page = as_viewer.get(address).context["list"]
        pages.append(titles(page.rows))
        address = page.next and f"/sessions/?sort={sort}&after={page.next}"
    back = as_viewer.get(f"/sessions/?sort={sort}&before={page.previous}")

    assert [len(rows) for rows in pages] == [50, 50, 30]
    assert len({title for rows in pages for title in rows}) == 130
    assert titles(back.context["list"].rows) == pages[1]


def test_the_first_page_reached_backwards_offers_no_previous(as_viewer):
    many_conversations(60)
    first = as_viewer.get("/sessions/").context["list"]
    second = as_viewer.get(f"/sessions/?after={first.next}").context["list"]

    back = as_viewer.get(f"/sessions/?before={second.previous}").context["list"]

    assert titles(back.rows) == titles(first.rows)
    assert back.previous is None
    assert back.next


@pytest.mark.parametrize(
    "cursor", ["x", "bm9wZQ", "WyJub3BlIiwxXQ", "W05hTiwxXQ", "é", "W1tdLDFd"]
)
def test_a_cursor_nobody_wrote_gives_the_first_page_and_says_so(as_viewer, cursor):
    a_conversation(title="here")

    response = as_viewer.get("/sessions/", {"after": cursor})

    assert titles(response.context["list"].rows) == ["here"]
    assert "cannot be read" in response.content.decode()


def test_the_number_of_queries_does_not_grow_with_the_rows(as_viewer):
    def count_queries() -> int:
        cache.clear()
        with CaptureQueriesContext(connection) as found:
            as_viewer.get("/sessions/")
        return len(found)

    a_conversation()
    few = count_queries()
    for _ in range(60):
        a_conversation(session_count=4, state="stuck")

    assert count_queries() == few


def test_a_page_of_long_titles_stays_below_200_kilobytes(as_viewer):
    for index in range(50):
        a_conversation(
            title="標題" * 120,
            last_error="x" * 255,
            model="m" * 128,
            agent="a" * 128,
            source=f"s{index}",
            bands={"system": 1, "summary": 2, "head": 3, "middle": 4, "tail": 5},
        )

    assert len(as_viewer.get("/sessions/").content) < 200_000


def test_hostile_titles_are_text(as_viewer):
    a_conversation(title="<script>alert(1)</script>", agent="a\u202eb")

    page = as_viewer.get("/sessions/").content.decode()

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "⟨U+202E⟩" in page


def test_no_conversation_at_all_names_the_next_step(as_operator):
    page = as_operator.get("/sessions/").content.decode()

    assert "No conversation yet" in page


def test_no_match_offers_the_way_back(as_viewer):
    a_conversation()

    page = as_viewer.get("/sessions/?state=stuck").content.decode()

    assert "No conversation matches" in page
    assert 'href="/sessions/"' in page


def test_the_sorted_column_says_so(as_viewer):
    a_conversation()

    page = as_viewer.get("/sessions/?sort=-tokens").content.decode()

    assert 'aria-sort="descending"><a href="?sort=tokens"' in page


def test_the_last_error_is_said_in_words(as_viewer):
    a_conversation(last_error="429 rate_limit")

    page = " ".join(as_viewer.get("/sessions/").content.decode().split())

    assert "<b>429</b> rate limited" in page


# --- search ------------------------------------------------------------------
def test_a_search_finds_titles_and_texts_and_shows_where(as_viewer):
    a_conversation(title="Nightly parser report")
    session = a_session([user("why does the parser <b>fail</b> here?")], title="other")
    a_conversation(title="unrelated")

    response = as_viewer.get("/sessions/?q=parser")

    page = response.content.decode()
    assert set(titles(response.context["list"].rows)) == {
        "Nightly parser report",
        "other",
    }
    assert "<mark>parser</mark> &lt;b&gt;fail" in page
    assert f'href="/sessions/{session.pk}/?at=0#m-0"' in page


def test_a_search_keeps_the_filters(as_viewer):
    a_conversation(title="parser a", state="stuck")
    a_conversation(title="parser b", state="idle")

    response = as_viewer.get("/sessions/?q=parser&state=stuck")

    assert titles(response.context["list"].rows) == ["parser a"]
    assert '<input type="hidden" name="state" value="stuck">' in (
        response.content.decode()
    )


@pytest.mark.parametrize("query", ['"', "* OR NEAR(", "\x00", "   ", "'; DROP", "％"])
def test_nothing_that_is_typed_is_an_error(as_viewer, query):
    a_conversation()

    assert as_viewer.get("/sessions/", {"q": query}).status_code == 200
