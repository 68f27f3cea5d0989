"""The Raw page: messages as JSON, findings, download."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient

from compaction.engine.messages import to_dict
from tests.web.rows import (
    a_session,
    a_successor,
    a_talk,
    assistant,
    result,
    user,
)
from tests.web.test_context import HOSTILE

pytestmark = pytest.mark.django_db


def raw_page(client, session, query=""):
    response = client.get(f"/sessions/{session.pk}/raw/{query}")
    assert response.status_code == 200
    return response


def download(client, session, query=""):
    response = client.get(f"/sessions/{session.pk}/raw/export/{query}")
    assert response.status_code == 200
    return response, json.loads(b"".join(response.streaming_content))


def test_a_stranger_finds_nothing(as_stranger):
    session = a_session(a_talk(1))

    for part in ("", "0/", "export/"):
        address = f"/sessions/{session.pk}/raw/{part}"
        assert as_stranger.get(address).status_code == 404


def test_messages_are_the_json_that_is_sent(as_viewer):
    talk = a_talk(2)
    session = a_session(talk)

    rows = raw_page(as_viewer, session).context["window"].rows

    assert [json.loads(row.text) for row in rows] == [to_dict(m) for m in talk]


def test_messages_come_in_windows(as_viewer):
    session = a_session(a_talk(30))

    window = raw_page(as_viewer, session, "?at=77").context["window"]

    assert (window.first, window.last) == (50, 99)
    assert (window.earlier_at, window.later_at) == (0, 100)


def test_a_long_message_is_clipped_and_whole_on_demand(as_viewer):
    session = a_session([user("z" * 5_000)])

    row = raw_page(as_viewer, session).context["window"].rows[0]
    whole = as_viewer.get(
        f"/sessions/{session.pk}/raw/0/", headers={"HX-Request": "true"}
    )

    assert row.is_clipped
    assert "z" * 5_000 in whole.content.decode()
    assert as_viewer.get(f"/sessions/{session.pk}/raw/9/").status_code == 404


def test_a_huge_message_is_not_read_for_the_list(as_viewer):
    session = a_session([user("ok"), user("z" * 2_000_000), assistant("fine")])

    response = raw_page(as_viewer, session)

    rows = response.context["window"].rows
    assert [bool(row.text) for row in rows] == [True, False, True]
    assert rows[1].chars > 2_000_000
    assert f'href="/sessions/{session.pk}/raw/1/' in response.content.decode()
    assert len(response.content) < 100_000


def test_before_shows_the_session_it_came_from(as_viewer):
    first = a_session([user("the older one")])
    tip = a_successor(first, [user("the newer one")])

    after = raw_page(as_viewer, tip).content.decode()
    before = raw_page(as_viewer, tip, "?side=before").content.decode()

    assert "the newer one" in after
    assert "the older one" not in after
    assert "the older one" in before


def test_findings_lead_to_their_messages(as_viewer):
    session = a_session([user("a"), result("nobody", "x"), assistant("b")])

    response = raw_page(as_viewer, session)

    page = response.content.decode()
    assert "result without its call" in page
    assert 'href="/sessions/' in page
    assert "?at=1#r-1" in page
    assert response.context["error_count"] == 1


def test_a_sound_session_is_said_to_be_so(as_viewer):
    page = raw_page(as_viewer, a_session(a_talk(2))).content.decode()

    assert "Calls and results match" in page


def test_a_long_session_is_checked_only_when_asked(as_viewer, monkeypatch):
    monkeypatch.setattr("compaction.views.raw.CHECKED_AT_ONCE", 3)
    session = a_session([user("a"), result("nobody", "x"), assistant("b"), user("c")])

    assert raw_page(as_viewer, session).context["findings"] is None
    assert raw_page(as_viewer, session, "?check=1").context["finding_count"] == 1


def test_every_fault_has_words():
    from django.template.loader import get_template

    from compaction.engine.validation import Fault

    template = get_template("compaction/raw/_fault.html")
    said = {f: template.render({"fault": f.value}).strip() for f in Fault}

    assert all(text != fault.value for fault, text in said.items())
    assert len(set(said.values())) == len(said)


def test_a_download_is_the_whole_list(as_viewer):
    talk = a_talk(120)
    session = a_session(talk)

    response, messages = download(as_viewer, session, "?redact=0")

    assert messages == [to_dict(message) for message in talk]
    assert f'filename="{session.pk}-exact.json"' in response["Content-Disposition"]
    assert response["Content-Type"] == "application/json"


def test_an_empty_session_downloads_as_an_empty_list(as_viewer):
    assert download(as_viewer, a_session([]))[1] == []


def test_secrets_are_masked_unless_asked_otherwise(as_viewer):
    key = "sk-proj-" + "a1B2c3D4e5" * 5
    session = a_session([user(f"use {key}")])

    masked = download(as_viewer, session)[1]
    exact = download(as_viewer, session, "?redact=0")[1]

    assert key not in json.dumps(masked)
    assert key in json.dumps(exact)


def test_hostile_text_is_exact_in_the_download_and_harmless_on_the_page(as_viewer):
    session = a_session([user(HOSTILE)])

    messages = download(as_viewer, session, "?redact=0")[1]
    page = raw_page(as_viewer, session).content.decode()

    assert messages[0]["content"] == HOSTILE
    assert "<script>alert" not in page
    assert "⟨U+202E⟩" in page


@pytest.mark.django_db(transaction=True)
def test_under_asgi_the_download_comes_in_pieces(viewer):
    session = a_session(a_talk(120))

    async def pieces():
        client = AsyncClient()
        await client.aforce_login(viewer)
        response: Any = await client.get(f"/sessions/{session.pk}/raw/export/")
        assert response.is_async
        received = [piece async for piece in response.streaming_content]
        await sync_to_async(connections.close_all)()
        return received

    # In a thread of its own: a browser's loop may be running in this one.
    with ThreadPoolExecutor() as pool:
        received = pool.submit(asyncio.run, pieces()).result()

    assert len(received) > 100
    assert len(json.loads(b"".join(received))) == session.message_count


def test_what_was_dropped_is_shown_and_not_downloaded(as_viewer):
    session = a_session(
        [user("keep"), user("gone").evolve(dropped=True), assistant("ok")]
    )

    page = raw_page(as_viewer, session).content.decode()

    assert "not sent" in page
    assert [m["content"] for m in download(as_viewer, session)[1]] == ["keep", "ok"]
