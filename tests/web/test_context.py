"""The first page of a session: where it stands, its messages and their fate."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from compaction.engine.messages import Message, Role
from compaction.models import Cooldown, Run, Session
from tests.web.rows import (
    a_conversation,
    a_session,
    a_successor,
    a_talk,
    assistant,
    result,
    summary,
    system,
    user,
)

pytestmark = pytest.mark.django_db
SMALL = {"window": 8_000}


def page_of(client, session, query="", **headers):
    return client.get(f"/sessions/{session.pk}/{query}", headers=headers)


def text_of(client, session, query="", **headers):
    response = page_of(client, session, query, **headers)
    assert response.status_code == 200
    return response.content.decode()


def a_cooldown(session, **values):
    now = timezone.now()
    defaults = {
        "conversation": session.conversation,
        "started_at": now,
        "until": now + timedelta(minutes=5),
        "seconds": 300,
        "failures": 2,
        "reason": "rate_limit",
    }
    return Cooldown.objects.create(**{**defaults, **values})


def a_run(session, **values):
    now = timezone.now()
    defaults = {
        "session": session,
        "idempotency_key": f"{session.pk}:{Run.objects.count()}",
        "trigger": "manual",
        "session_revision": session.revision,
        "queued_at": now,
    }
    return Run.objects.create(**{**defaults, **values})


# --- who may see it ----------------------------------------------------------
def test_a_viewer_reads_and_finds_no_button_that_acts(as_viewer):
    page = text_of(as_viewer, a_session(a_talk(3)))

    assert "Compact now" not in page
    assert "Preview…" in page


def test_an_operator_finds_compact_now_as_a_real_form(as_operator):
    session = a_session(a_talk(3))

    page = text_of(as_operator, session)

    assert f'<form method="post" action="/sessions/{session.pk}/compact/"' in page
    assert "Compact now" in page


def test_a_stranger_finds_nothing(as_stranger):
    assert page_of(as_stranger, a_session(a_talk(1))).status_code == 404


def test_an_id_that_nobody_has_is_not_found(as_viewer):
    assert as_viewer.get("/sessions/20260101_000000_abcdef/").status_code == 404


def test_on_an_imported_session_the_button_speaks_of_the_copy(as_operator):
    session = a_session(a_talk(3), imported_from="state.db")

    page = text_of(as_operator, session)

    assert "Compact the copy now" in page
    assert "imported copy" in page


# --- where it stands ---------------------------------------------------------
def verdict(client, session):
    return page_of(client, session).context["verdict"].code


def test_far_below_the_threshold_it_is_fine(as_viewer):
    assert verdict(as_viewer, a_session(a_talk(2))) == "fine"


def test_over_the_threshold_the_page_says_by_how_much_and_since_when(as_viewer):
    session = a_session(a_talk(40), **SMALL)

    response = page_of(as_viewer, session)

    standing = response.context["verdict"]
    since = response.context["picture"].over_since
    page = response.content.decode()
    assert standing.code == "over"
    assert f"{standing.over:,} tokens over the threshold since message {since}" in page


def test_the_message_since_which_it_is_over_is_the_first_to_reach_it(as_viewer):
    session = a_session(a_talk(40), **SMALL)

    picture = page_of(as_viewer, session).context["picture"]

    since, outline = picture.over_since, picture.outline
    assert outline.tokens_between(0, since + 1) >= picture.plan.threshold
    assert outline.tokens_between(0, since) < picture.plan.threshold


def test_a_cooldown_is_said_with_its_end_and_an_operator_may_clear_it(
    as_viewer, as_operator
):
    session = a_session(a_talk(40), **SMALL)
    cooldown = a_cooldown(session)

    page = text_of(as_operator, session)

    assert "failed 2 times in a row" in page
    assert f'data-countdown="{int(cooldown.until.timestamp())}"' in page
    assert "Clear cooldown" in page
    assert "Clear cooldown" not in text_of(as_viewer, session)


def test_a_session_whose_protected_parts_are_too_large_is_stuck(as_viewer):
    session = a_session(
        [system("s"), user("x" * 40_000), assistant("y" * 40_000)],
        **SMALL,
    )

    assert verdict(as_viewer, session) == "stuck"


def test_a_failed_run_of_the_session_as_it_is_stands_in_the_verdict(as_viewer):
    session = a_session(a_talk(3))
    a_run(
        session,
        status="completed",
        outcome="aborted",
        reason="rate_limit",
        finished_at=timezone.now(),
    )

    assert verdict(as_viewer, session) == "failed"


def test_a_failed_run_of_an_earlier_revision_is_the_past(as_viewer):
    session = a_session(a_talk(3))
    a_run(
        session,
        status="failed",
        session_revision=session.revision - 1,
        finished_at=timezone.now(),
    )

    assert verdict(as_viewer, session) == "fine"


def test_a_run_on_its_way_takes_the_place_of_the_button(as_operator):
    session = a_session(a_talk(3))
    run = a_run(session)

    page = text_of(as_operator, session)

    assert "Compact now" not in page
    assert f'href="/runs/{run.pk}/"' in page


def test_a_session_without_messages_says_so(as_viewer):
    session = a_session([])

    page = text_of(as_viewer, session)

    assert "There are no messages yet" in page
    assert "no messages yet" in page


# --- the window --------------------------------------------------------------
def test_the_parts_of_the_window_add_up(as_viewer):
    talk = [*a_talk(10), summary("So far so good."), *a_talk(30)[1:]]
    session = a_session(talk, **SMALL)

    window = page_of(as_viewer, session).context["window"]

    assert sum(part.tokens for part in window.parts) == window.tokens == session.tokens
    assert {"system", "summary", "middle", "tail"} <= {p.kind for p in window.parts}
    assert window.origin == "rough"


def test_what_the_provider_measured_wins_and_the_error_is_said(as_viewer):
    session = a_session(a_talk(10))
    counted = Session.objects.get(pk=session.pk).tokens
    Session.objects.filter(pk=session.pk).update(
        provider_tokens=counted * 2, provider_position=session.message_count
    )

    response = page_of(as_viewer, session)

    window = response.context["window"]
    assert window.tokens == counted * 2
    assert window.error == pytest.approx(-0.5)
    assert "measured by the provider" in response.content.decode()


# --- messages ----------------------------------------------------------------
def rows_of(client, session, query=""):
    return page_of(client, session, query).context["listing"]


def test_messages_come_in_windows_of_fifty(as_viewer):
    session = a_session(a_talk(30))

    first = rows_of(as_viewer, session)
    third = rows_of(as_viewer, session, "?at=120")

    assert [row.position for row in first.rows] == list(range(50))
    assert (first.earlier_at, first.later_at) == (None, 50)
    assert [row.position for row in third.rows] == list(range(100, 121))
    assert (third.earlier_at, third.later_at) == (50, None)


@pytest.mark.parametrize("at", ["-1", "abc", "99999999999999999999", "1e3", ""])
def test_a_place_that_is_none_opens_a_window_all_the_same(as_viewer, at):
    assert rows_of(as_viewer, a_session(a_talk(3)), f"?at={at}").rows


def test_a_place_behind_the_end_opens_the_last_window(as_viewer):
    assert rows_of(as_viewer, a_session(a_talk(30)), "?at=5000").last == 121


def test_the_list_narrows_to_a_role(as_viewer):
    window = rows_of(as_viewer, a_session(a_talk(30)), "?show=tool")

    assert {row.role for row in window.rows} == {"tool"}
    assert window.total == 30


def test_the_list_narrows_to_what_will_be_pruned(as_viewer):
    session = a_session(a_talk(40, words=100), **SMALL)

    window = rows_of(as_viewer, session, "?show=pruned")

    assert window.total
    assert all(row.fate == "pruned" for row in window.rows)
    assert all(row.tokens_after < row.tokens for row in window.rows)


def test_a_kind_that_no_message_has_leads_back_to_all(as_viewer):
    page = text_of(as_viewer, a_session(a_talk(3)), "?show=pinned")

    assert "No message of this kind" in page


def test_htmx_gets_the_list_alone(as_viewer):
    session = a_session(a_talk(30))

    page = text_of(as_viewer, session, "?at=50", **{"HX-Request": "true"})

    assert page.lstrip().startswith('<section class="panel listing" id="messages"')
    assert 'id="m-50"' in page
    assert "<html" not in page


def test_each_message_says_what_happens_and_by_which_rule(as_viewer):
    session = a_session(a_talk(40, words=100), **SMALL)

    page = text_of(as_viewer, session)

    assert "head: system prompt" in page
    assert "head: one of the first 3" in page
    assert "middle → summary" in page
    assert "pruned, then summary" in page
    last = text_of(as_viewer, session, "?at=160")
    assert "tail: the newest" in last


def test_every_rule_of_the_ledger_has_a_sentence(as_viewer):
    from django.template.loader import get_template

    from compaction.engine.ledger import Rule

    template = get_template("compaction/context/_rule.html")
    row: dict[str, object] = {"detail_of": {}, "tokens_after": None}
    said = {
        rule: template.render({"row": {**row, "rule": rule.value}}).strip()
        for rule in Rule
    }

    assert all(said.values())
    assert len(set(said.values())) == len(said)


def test_the_page_of_a_long_session_needs_as_many_queries_as_a_short_one(as_viewer):
    def count(session):
        cache.clear()
        with CaptureQueriesContext(connection) as found:
            page_of(as_viewer, session)
        return len(found)

    assert count(a_session(a_talk(2))) == count(a_session(a_talk(60)))


def test_no_body_of_a_message_is_read(as_viewer):
    session = a_session(a_talk(30))

    with CaptureQueriesContext(connection) as found:
        page_of(as_viewer, session)

    assert not [query["sql"] for query in found if '"body"' in query["sql"]]


def test_a_page_with_long_messages_stays_below_200_kilobytes(as_viewer):
    session = a_session(a_talk(300, words=1_000))

    assert len(page_of(as_viewer, session).content) < 200_000


# --- older sessions ----------------------------------------------------------
def test_an_older_session_leads_to_the_tip_with_a_note(as_viewer):
    old = a_session(a_talk(3))
    tip = a_successor(a_successor(old, a_talk(2)), a_talk(1))

    response = page_of(as_viewer, old)
    there = as_viewer.get(response["Location"]).content.decode()

    assert response.status_code == 302
    assert response["Location"].startswith(f"/sessions/{tip.pk}/")
    assert f"You asked for session <code>{old.pk}</code>" in there


def test_exact_opens_the_older_session_which_cannot_be_changed(as_operator):
    old = a_session(a_talk(3))
    a_successor(old, a_talk(1))

    page = text_of(as_operator, old, "?exact=1")

    assert "It can be read, not changed" in page
    assert "Compact now" not in page
    assert f"/sessions/{old.pk}/raw/?exact=1" in page


def test_an_older_session_shows_the_cuts_of_the_run_that_compacted_it(as_viewer):
    from compaction.engine.policy_values import policy_to_dict
    from compaction.engine.presets import DEFAULT

    old = a_session(a_talk(40), **SMALL)
    tip = a_successor(old, a_talk(1))
    policy = DEFAULT.evolve(context_length=8_000, tail_tokens=300)
    run = a_run(
        old,
        result_session=tip,
        policy=policy_to_dict(policy),
        status="completed",
        outcome="summarised",
        finished_at=timezone.now(),
    )

    response = page_of(as_viewer, old, "?exact=1")

    page = response.content.decode()
    assert response.context["plan"].policy == policy
    assert f'href="/runs/{run.pk}/"' in page
    assert "Policy of that run" in page


def test_without_a_run_an_older_session_says_whose_cuts_it_shows(as_viewer):
    old = a_session(a_talk(3))
    a_successor(old, a_talk(1))

    page = text_of(as_viewer, old, "?exact=1")

    assert "what the policy of today would do" in page


def test_a_session_that_was_undone_stays_where_it_is(as_viewer):
    old = a_session(a_talk(3))
    undone = a_successor(old, a_talk(1), undone=True)

    assert page_of(as_viewer, old).status_code == 200
    assert "was undone" in text_of(as_viewer, undone)


@pytest.mark.parametrize("asked", ["../../etc", "x" * 300, "%00", "no-such-session"])
def test_a_note_speaks_only_of_sessions_of_this_conversation(as_viewer, asked):
    page = text_of(as_viewer, a_session(a_talk(1)), f"?from={asked}")

    assert "You asked for session" not in page


# --- hostile text ------------------------------------------------------------
HOSTILE = "<script>alert(1)</script> \x00 \u202egnp.exe \ud800 <|endoftext|>"


def test_hostile_text_is_shown_and_does_nothing(as_viewer):
    session = a_session([user(HOSTILE), assistant('"><img src=x onerror=alert(1)>')])

    page = text_of(as_viewer, session)

    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "␀" in page
    assert "⟨U+202E⟩" in page
    assert "\x00" not in page


def test_the_list_masks_secrets_and_the_whole_message_shows_what_the_agent_saw(
    as_viewer,
):
    session = a_session([user("Log in with password=hunter2xyz, please.")])

    listed = text_of(as_viewer, session)
    whole_one = whole(as_viewer, session, 0).content.decode()

    assert "password=[redacted]" in listed
    assert "hunter2xyz" not in listed
    assert "hunter2xyz" in whole_one


def test_what_a_transcript_says_is_out_of_htmx_reach(as_viewer):
    session = a_session([user('<div hx-get="/sign-out/" hx-trigger="load">')])

    page = text_of(as_viewer, session)

    assert "<div hx-get=&quot;" not in page
    assert 'hx-get="/sign-out/"' not in page


def whole(client, session, position, query=""):
    response = client.get(f"/sessions/{session.pk}/messages/{position}/{query}")
    assert response.status_code == 200
    return response


def test_a_megabyte_is_shown_in_pieces(as_viewer):
    session = a_session([user("a" * 1_000_000)])

    first = whole(as_viewer, session, 0)
    last = whole(as_viewer, session, 0, "?start=999999")

    assert first.context["body"].end == 100_000
    assert first.context["body"].next_start == 100_000
    assert last.context["body"].end == 1_000_000
    assert last.context["body"].next_start is None
    assert len(page_of(as_viewer, session).content) < 100_000


def test_a_message_that_is_not_there_is_not_found(as_viewer):
    session = a_session(a_talk(1))

    assert as_viewer.get(f"/sessions/{session.pk}/messages/99/").status_code == 404


def test_the_whole_message_comes_as_a_fragment(as_viewer):
    session = a_session([user("b" * 1_000)])

    response = as_viewer.get(
        f"/sessions/{session.pk}/messages/0/", headers={"HX-Request": "true"}
    )

    page = response.content.decode()
    assert "b" * 1_000 in page
    assert "<html" not in page


def test_broken_arguments_are_shown_as_they_came(as_viewer):
    broken = assistant(call="c1")
    call = broken.tool_calls[0]
    from dataclasses import replace

    broken = broken.evolve(tool_calls=(replace(call, arguments='{"path": '),))
    session = a_session([user("go"), broken, result("c1", "ok")])

    page = whole(as_viewer, session, 1).content.decode()

    assert "{&quot;path&quot;: " in page
    assert "no valid JSON" in page


PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR4"
    "2mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


def with_picture(address):
    part = {"type": "image_url", "image_url": {"url": address}}
    return Message(role=Role.USER, content=({"type": "text", "text": "see"}, part))


def test_a_picture_is_a_label_until_it_is_asked_for(as_viewer):
    session = a_session([with_picture(PIXEL)])

    before = whole(as_viewer, session, 0).content.decode()
    after = whole(as_viewer, session, 0, "?picture=0").content.decode()

    assert "<img" not in before
    assert "Show it" in before
    assert f'src="{PIXEL}"' in after
    assert "1 picture" in text_of(as_viewer, session)


@pytest.mark.parametrize(
    "address",
    [
        "https://tracker.example/pixel.png",
        "data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=",
        "data:text/html;base64,PHNjcmlwdD4=",
        'data:image/png;base64,AAAA" onerror="alert(1)',
        "javascript:alert(1)",
    ],
)
def test_nothing_but_a_stored_raster_picture_is_ever_shown(as_viewer, address):
    session = a_session([with_picture(address)])

    page = whole(as_viewer, session, 0, "?picture=0").content.decode()

    assert "<img" not in page


# --- the aside ---------------------------------------------------------------
def test_the_outlook_is_the_plan_that_a_run_would_apply(as_operator):
    from compaction import wiring
    from compaction.store import plan_session
    from compaction.store.policies import policy_in_force

    session = a_session(a_talk(40), **SMALL)

    shown = page_of(as_operator, session).context["plan"]

    planned = plan_session(
        session,
        policy_in_force(session).policy,
        summariser_window=wiring.summariser_window(),
    )
    assert shown.digest == planned.plan.digest


def test_the_aside_names_who_set_a_value(as_viewer):
    conversation = a_conversation(policy_overrides={"tail_tokens": 1_234})
    session = a_session(a_talk(3), session=conversation.tip)

    page = text_of(as_viewer, session)

    assert "1,234" in page
    assert "this conversation" in page


def test_clearing_a_cooldown_ends_it_and_leads_back(as_operator):
    session = a_session(a_talk(3))
    cooldown = a_cooldown(session)

    response = as_operator.post(f"/sessions/{session.pk}/cooldown/clear/")

    cooldown.refresh_from_db()
    assert response.status_code == 303
    assert response["Location"] == f"/sessions/{session.pk}/"
    assert cooldown.cleared_at is not None


def test_a_viewer_may_not_clear_a_cooldown(as_viewer):
    session = a_session(a_talk(3))
    cooldown = a_cooldown(session)

    response = as_viewer.post(f"/sessions/{session.pk}/cooldown/clear/")

    cooldown.refresh_from_db()
    assert response.status_code == 403
    assert cooldown.cleared_at is None


def test_clearing_by_get_is_refused(as_operator):
    session = a_session(a_talk(3))

    response = as_operator.get(f"/sessions/{session.pk}/cooldown/clear/")

    assert response.status_code == 405


def test_last_events_name_runs_errors_and_cooldowns(as_viewer):
    session = a_session(a_talk(3))
    a_run(
        session,
        status="completed",
        outcome="summarised",
        tokens_before=184_210,
        tokens_after=41_003,
        messages_summarised=212,
        finished_at=timezone.now(),
    )
    a_cooldown(session)

    page = text_of(as_viewer, session)

    assert "184,210 → 41,003" in page
    assert "212 messages summarised" in page
    assert "cooldown 5" in page
