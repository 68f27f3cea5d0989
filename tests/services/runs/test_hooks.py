"""Hooks around a compaction: told everything, able to stop nothing."""

from __future__ import annotations

import dataclasses

import pytest

from compaction.models import RecoveryEvent
from compaction.signals import compaction_finished, compaction_starting
from tests.conversations import long_talk, store_session
from tests.services.run_fixtures import run_session
from tests.services.runs import hooks_called

pytestmark = pytest.mark.django_db

HERE = "tests.services.runs.hooks_called"


@pytest.fixture(autouse=True)
def nothing_called():
    hooks_called.called.clear()
    hooks_called.released.clear()
    yield
    hooks_called.released.set()


@pytest.fixture
def session():
    return store_session(long_talk(turns=20))


def test_paths_are_called_with_ids_and_the_plan(session, settings):
    settings.BEFORE_COMPACTION = settings.AFTER_COMPACTION = [f"{HERE}.remember"]

    run = run_session(session)

    before, after = hooks_called.called
    assert before.run_id == after.run_id == str(run.pk)
    assert before.session_id == session.pk
    assert before.plan.digest == run.plan_hash
    assert (after.status, after.outcome) == ("completed", "summarised")
    assert after.result_session_id == run.result_session_id
    with pytest.raises(dataclasses.FrozenInstanceError):
        before.run_id = "another"


def test_signals_are_sent(session):
    heard = []

    def hear(sender, signal, **given):
        heard.append(given)

    compaction_starting.connect(hear)
    compaction_finished.connect(hear)
    try:
        run = run_session(session)
    finally:
        compaction_starting.disconnect(hear)
        compaction_finished.disconnect(hear)

    assert [list(given) for given in heard] == [["starting"], ["finished"]]
    assert heard[1]["finished"].run_id == str(run.pk)


@pytest.mark.parametrize("path", [f"{HERE}.fail", f"{HERE}.no_such_thing", "nowhere.x"])
def test_a_hook_that_fails_is_an_event_and_stops_nothing(session, settings, path):
    settings.BEFORE_COMPACTION = [path, f"{HERE}.remember"]

    run = run_session(session)

    assert run.outcome == "summarised"
    event = RecoveryEvent.objects.get(run=run)
    assert (event.kind, event.before, event.action) == ("hook_failed", path, "ignored")
    assert len(hooks_called.called) == 1


def test_a_hook_that_hangs_is_left_behind(session, settings):
    settings.BEFORE_COMPACTION = [f"{HERE}.hang", f"{HERE}.remember"]
    settings.COMPACTION_HOOK_SECONDS = 0.2

    run = run_session(session)

    assert run.outcome == "summarised"
    event = RecoveryEvent.objects.get(run=run)
    assert (event.kind, event.delay) == ("hook_slow", 0.2)
    assert len(hooks_called.called) == 1


def test_a_run_that_changes_nothing_calls_nobody(settings):
    settings.BEFORE_COMPACTION = settings.AFTER_COMPACTION = [f"{HERE}.remember"]

    run = run_session(store_session(long_talk(turns=1)))

    assert run.outcome == "noop"
    assert hooks_called.called == []
