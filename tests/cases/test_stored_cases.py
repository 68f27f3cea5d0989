"""The cases whose properties are about rows and pages, run through the services.

Real HTTP to the scripted server plays the case's summariser.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection

from compaction.engine.messages import Message
from compaction.engine.triggers import Trigger
from compaction.models import Run, Session, Summary
from compaction.services.cooldowns import active_cooldown
from compaction.services.runs.starting import RunRequest, queue_run
from compaction.services.runs.work import perform_run
from compaction.store import load_messages, summary_in_force
from tests.cases.runner import policy_of, read_messages
from tests.cases.test_cases import STORED
from tests.conversations import store_session
from tests.server.replies import Reply
from tests.shared_data import CASES, files_in, needs

REPORTED = {"already_running": "already running", "already_done": "already done"}


def _cases() -> list[Any]:
    found = [json.loads(path.read_text()) for path in files_in(CASES, "*.json")]
    return [
        pytest.param(case, id=case["id"])
        for case in found
        if any(p["check"] in STORED for p in case["expect"]["properties"])
    ]


@pytest.fixture
def summariser(settings, scripted_openai):
    settings.SUMMARISER_BASE_URL = scripted_openai.base_url
    settings.SUMMARISER_MODEL = "scripted"
    return scripted_openai


def _press(session: Session, request: RunRequest) -> str:
    """Press "compact now" and do what was queued; returns what the press was told."""
    queued = queue_run(session, request)
    if queued.run is not None and queued.created:
        perform_run(queued.run.pk)
    return queued.refusal.value if queued.refusal else "queued"


def _press_at_once(session: Session, request: RunRequest, presses: int) -> list[str]:
    told: list[str] = []
    gate = threading.Barrier(presses)

    def press() -> None:
        gate.wait()
        try:
            told.append(_press(session, request))
        finally:
            connection.close()

    threads = [threading.Thread(target=press) for _ in range(presses)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


@dataclass
class Stored:
    """What a stored case left behind."""

    session: Session
    before: list[Message]
    summary_before: Summary | None
    told: list[str]
    requests: list[Any]
    page: str


def _cooldown_active(stored: Stored, prop: dict[str, Any]) -> None:
    active = active_cooldown(stored.session.conversation) is not None
    assert active is prop["value"]


def _operator_told(stored: Stored, prop: dict[str, Any]) -> None:
    assert any(word in stored.page for word in prop["any_of"])


def _previous_summary_unchanged(stored: Stored, prop: dict[str, Any]) -> None:
    assert summary_in_force(stored.session) == stored.summary_before


def _no_message_lost(stored: Stored, prop: dict[str, Any]) -> None:
    assert load_messages(stored.session) == stored.before


def _summarizer_calls(stored: Stored, prop: dict[str, Any]) -> None:
    assert len(stored.requests) <= prop["max"]


def _children_created(stored: Stored, prop: dict[str, Any]) -> None:
    assert Session.objects.filter(parent=stored.session).count() == prop["n"]


def _second_request_reports(stored: Stored, prop: dict[str, Any]) -> None:
    second = [REPORTED[told] for told in stored.told if told != "queued"]
    assert len(second) == 1
    assert second[0] in prop["any_of"]


def _messages_not_duplicated(stored: Stored, prop: dict[str, Any]) -> None:
    child = Session.objects.get(parent=stored.session)
    origins = child.messages.exclude(origin_position=None)
    positions = list(origins.values_list("origin_position", flat=True))
    assert len(positions) == len(set(positions))


CHECKS = {
    "cooldown_active": _cooldown_active,
    "operator_told": _operator_told,
    "previous_summary_unchanged": _previous_summary_unchanged,
    "no_message_lost": _no_message_lost,
    "summarizer_calls": _summarizer_calls,
    "children_created": _children_created,
    "second_request_reports": _second_request_reports,
    "messages_not_duplicated": _messages_not_duplicated,
}


def _request(options: dict[str, Any]) -> RunRequest:
    manual = options.get("mode") == "manual"
    trigger = Trigger.MANUAL if manual else Trigger.PREFLIGHT
    return RunRequest(policy=policy_of(options), trigger=trigger)


@needs(CASES)
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("case", _cases())
def test_every_stored_property_of_the_case_holds(case, summariser, client, viewer):
    options = case["options"]
    summariser.always(Reply(text=options["summarizer"]["text"]))
    session = store_session(read_messages(case["messages"]))
    before, summary = load_messages(session), summary_in_force(session)

    presses = int(options.get("workers") or 1)
    told = _press_at_once(session, _request(options), presses)

    client.force_login(viewer)
    run = Run.objects.get()
    stored = Stored(
        session=session,
        before=before,
        summary_before=summary,
        told=told,
        requests=summariser.requests,
        page="".join(
            client.get(address).content.decode().lower()
            for address in (f"/sessions/{session.pk}/?exact=1", f"/runs/{run.pk}/")
        ),
    )
    properties = case["expect"]["properties"]
    assert {p["check"] for p in properties} & STORED <= set(CHECKS)
    for prop in properties:
        if prop["check"] in CHECKS:
            CHECKS[prop["check"]](stored, prop)
