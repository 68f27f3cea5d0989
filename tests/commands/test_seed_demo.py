"""The demo: invented, rich, and the same whenever it is loaded."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.utils import timezone

from compaction.engine.validation import validate
from compaction.models import Conversation, Run, Session, Summary, Turn
from compaction.selectors.recovery import RecoveryQuery, read_recovery
from compaction.services.cooldowns import active_cooldown
from compaction.store import load_messages, summary_in_force
from compaction.store.losses import read_losses

pytestmark = pytest.mark.django_db(transaction=True)


def seed():
    out = io.StringIO()
    call_command("seed_demo", stdout=out)
    return out.getvalue()


def test_loading_it_twice_changes_nothing():
    assert "14 demo conversations" in seed()
    before = list(Conversation.objects.order_by("pk").values())

    assert "0 demo conversations" in seed()
    assert list(Conversation.objects.order_by("pk").values()) == before


def test_it_shows_every_standing_that_an_operator_must_know():
    seed()
    states = set(Conversation.objects.values_list("state", flat=True))
    cooling = [c for c in Conversation.objects.all() if active_cooldown(c)]

    assert states == {"stuck", "over_threshold", "idle", "ended"}
    assert len(cooling) == 1
    assert all(Conversation.objects.values_list("is_demo", flat=True))
    assert Conversation.objects.values("source").distinct().count() >= 6


def test_its_lineages_were_compacted_by_real_runs():
    seed()
    runs = Run.objects.all()

    assert {run.outcome for run in runs} == {"summarised"}
    assert len(runs) == 8
    assert Conversation.objects.get(title="Nightly report").session_count == 4
    assert Summary.objects.filter(origin="edited").count() == 1


def test_one_summary_lost_something_so_that_losses_can_be_answered():
    seed()
    session = Conversation.objects.get(title="Find the slow import").tip
    summary = summary_in_force(session)
    losses = read_losses(summary)

    assert (summary.origin, summary.model) == ("generated", "demo-script")
    assert {loss.kind for loss in losses.items} >= {"file", "identifier"}
    assert "orchard/report.py" in {loss.text for loss in losses.items}
    assert losses.appended  # an open todo was put back


def test_nothing_of_it_is_sent_to_an_endpoint_that_is_set_up(scripted_openai, settings):
    settings.SUMMARISER_BASE_URL = scripted_openai.base_url
    settings.SUMMARISER_MODEL = "scripted"
    seed()

    assert scripted_openai.requests == []


def test_every_session_of_it_is_valid():
    seed()
    for session in Session.objects.all():
        errors = [f for f in validate(load_messages(session)) if f.is_error]
        assert errors == [], session


def test_recovery_has_something_to_show_on_the_first_start():
    seed()
    now = timezone.now()
    recovery = read_recovery(RecoveryQuery(), now)
    stuck = Turn.objects.get(end="stuck")

    assert [one.endpoint for one in recovery.failovers] == ["fallback"]
    assert [one.conversation.pk for one in recovery.stuck] == [stuck.conversation_id]
    assert len(recovery.cooldowns) == 1
    assert {row.reason for row in recovery.reasons} >= {"rate_limit", "auth"}
    assert stuck.events.filter(kind="window_lowered").exists()
    assert all(turn.chunks.exists() for turn in Turn.objects.all())
