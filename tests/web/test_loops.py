"""What pages say of an agent that goes round in circles."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from compaction.models import Conversation, LoopEvent, Session
from tests.conversations import STARTED, long_work, store_session

pytestmark = pytest.mark.django_db

REPEATS = [
    {
        "what": "src/<b>part</b>.py",
        "position": 4,
        "session": "",
        "before": 2,
        "times": 2,
        "told": True,
    }
]


@pytest.fixture
def looping() -> Session:
    session = store_session(long_work(4))
    repeats = [{**REPEATS[0], "session": session.pk}]
    LoopEvent.objects.create(
        session=session,
        kind="reread",
        at=STARTED,
        is_alarm=True,
        count=7,
        repeats=repeats,
    )
    return session


def page(
    client: Any, name: str, session: Session | None = None, query: str = ""
) -> str:
    url = reverse(name, args=[session.pk] if session else [])
    response = client.get(url + query)
    assert response.status_code == 200
    return str(response.content.decode())


def test_the_timeline_tells_it_with_both_places(
    as_viewer: Any, looping: Session
) -> None:
    html = page(as_viewer, "session-timeline", looping, "?kind=loop")

    assert "read 7 things again" in html
    assert reverse("session-message", args=[looping.pk, 4]) in html
    assert reverse("session-message", args=[looping.pk, 2]) in html
    assert "though the summary names it" in html
    assert "src/&lt;b&gt;part&lt;/b&gt;.py" in html


def test_the_session_warns_above_its_window(as_viewer: Any, looping: Session) -> None:
    html = page(as_viewer, "session-context", looping)

    assert "read 7 things again" in html
    assert "pin the message" in html


@pytest.mark.parametrize(
    ("kind", "columns", "sentence"),
    [
        ("equal_summaries", {"share": 1.0}, "word for word"),
        ("equal_summaries", {"share": 0.934}, "% equal to the one before it"),
        ("rapid_runs", {"count": 3, "turns": 4}, "3 compactions within 4 answers"),
    ],
)
def test_each_kind_has_its_sentence(
    as_viewer: Any, looping: Session, kind: str, columns: dict[str, Any], sentence: str
) -> None:
    LoopEvent.objects.update(kind=kind, repeats=[], **columns)

    assert sentence in page(as_viewer, "session-timeline", looping)


def test_the_overview_names_who_loops(as_viewer: Any, looping: Session) -> None:
    html = page(as_viewer, "overview")

    assert "1 open conversation seems to go round in circles." in html
    assert reverse("session-timeline", args=[looping.pk]) + "?kind=loop" in html


def test_the_overview_is_fine_with_mere_hints_and_ended_work(
    as_viewer: Any, looping: Session
) -> None:
    fine = "No conversation seems to go round in circles."
    LoopEvent.objects.update(is_alarm=False)
    assert fine in page(as_viewer, "overview")

    LoopEvent.objects.update(is_alarm=True)
    Conversation.objects.update(state=Conversation.State.ENDED)
    assert fine in page(as_viewer, "overview")
