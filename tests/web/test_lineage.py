"""The Lineage page: generations, branches, tokens over time."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from compaction.models import Run, Session
from tests.web.rows import NOON, a_session, a_successor, a_talk, summary

pytestmark = pytest.mark.django_db


def lineage_page(client, session, query=""):
    response = client.get(f"/sessions/{session.pk}/lineage/{query}")
    assert response.status_code == 200
    return response


def a_run_into(parent, child):
    return Run.objects.create(
        session=parent,
        result_session=child,
        idempotency_key=f"{parent.pk}:1",
        trigger="manual",
        session_revision=1,
        status="completed",
        outcome="summarised",
        tokens_before=9_000,
        tokens_after=700,
        queued_at=timezone.now(),
        finished_at=timezone.now(),
    )


def test_a_stranger_finds_nothing(as_stranger):
    session = a_session(a_talk(1))

    assert as_stranger.get(f"/sessions/{session.pk}/lineage/").status_code == 404


def test_generations_stand_in_their_order_with_links(as_viewer):
    first = a_session(a_talk(3))
    second = a_successor(first, a_talk(2))
    tip = a_successor(second, a_talk(1), link=Session.Link.IN_PLACE)

    response = lineage_page(as_viewer, tip)

    page = response.content.decode()
    assert [node.id for node in response.context["nodes"]] == [
        first.pk,
        second.pk,
        tip.pk,
    ]
    assert f'href="/sessions/{first.pk}/?exact=1"' in page
    assert f'href="/sessions/{tip.pk}/"' in page
    assert "in place" in page


def test_a_branch_is_shown_even_when_it_is_a_conversation_of_its_own(as_viewer):
    session = a_session(a_talk(3))
    branch = a_session(a_talk(1), title="another way")
    Session.objects.filter(pk=branch.pk).update(
        parent=session, link=Session.Link.BRANCH
    )

    page = lineage_page(as_viewer, session).content.decode()

    assert "another way" in page
    assert f'href="/sessions/{branch.pk}/"' in page


def test_an_undone_generation_is_shown_as_such(as_viewer):
    first = a_session(a_talk(3))
    a_successor(first, a_talk(2), undone=True)
    conversation = first.conversation
    conversation.tip = first
    conversation.save()

    page = lineage_page(as_viewer, first).content.decode()

    assert "undone" in page


def test_a_run_says_what_was_before_and_after(as_viewer):
    first = a_session(a_talk(3))
    tip = a_successor(first, a_talk(1))
    run = a_run_into(first, tip)

    node = lineage_page(as_viewer, tip).context["nodes"][1]

    assert (node.tokens_before, node.tokens_at_start) == (9_000, 700)
    assert node.run_id == str(run.pk)


def test_without_a_run_the_summary_says_what_a_generation_opened_with(as_viewer):
    first = a_session(a_talk(3))
    tip = a_successor(first, [summary("so far"), *a_talk(1)[1:]])

    node = lineage_page(as_viewer, tip).context["nodes"][1]

    taken = tip.messages.get(kind="summary")
    assert node.tokens_before == first.tokens
    assert node.tokens_at_start == taken.tokens


def test_the_saw_tooth_rises_with_messages_and_drops_with_compactions(as_viewer):
    first = a_session(a_talk(3))
    tip = a_successor(first, a_talk(5))
    a_run_into(first, tip)

    readings = lineage_page(as_viewer, tip).context["lineage"].readings

    assert [(r.tokens, r.compacted) for r in readings] == [
        (0, False),
        (first.tokens, False),
        (700, True),
        (tip.tokens, False),
    ]


def test_one_session_alone_has_nothing_to_compare(as_viewer):
    page = lineage_page(as_viewer, a_session(a_talk(1))).content.decode()

    assert "It was never compacted" in page


def test_the_table_says_the_same_as_the_tree(as_viewer):
    first = a_session(a_talk(3))
    tip = a_successor(first, a_talk(1))

    page = lineage_page(as_viewer, tip).content.decode()

    assert "The same as a table" in page
    assert f"<td>{first.pk}</td>" in page


def test_the_number_of_queries_does_not_grow_with_the_generations(as_viewer):
    def count(session):
        cache.clear()
        with CaptureQueriesContext(connection) as found:
            lineage_page(as_viewer, session)
        return len(found)

    short = a_successor(a_session(a_talk(1)), a_talk(1))
    long = a_session(a_talk(1))
    for _ in range(12):
        long = a_successor(long, a_talk(1))

    assert count(long) == count(short)


def test_a_chain_that_bites_its_tail_ends(as_viewer):
    first = a_session(a_talk(1))
    second = a_successor(first, a_talk(1))
    Session.objects.filter(pk=first.pk).update(
        parent=second, link=Session.Link.COMPACTION, started_at=NOON
    )

    assert lineage_page(as_viewer, second, "?exact=1").context["nodes"]
    assert as_viewer.get(f"/sessions/{first.pk}/").status_code in (200, 302)
