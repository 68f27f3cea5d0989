"""A summariser that fails in every way there is, over real HTTP.

Whatever it does, nothing of the conversation is lost, the run says why, and the right
cooldown begins.
"""

from __future__ import annotations

import pytest

from compaction.engine.messages import Kind
from compaction.engine.triggers import Trigger
from compaction.models import Cooldown, RecoveryEvent, Summary
from compaction.services.cooldowns import active_cooldown
from compaction.services.runs.starting import Refusal, RunRequest, queue_run
from compaction.store import load_messages
from tests.conversations import long_talk, long_work, store_session
from tests.server.replies import NAMED, Reply, broken, failure
from tests.services.run_fixtures import POLICY, everything_of, preset, run_session

# answer: (reason, HTTP status, seconds of cooldown after the first failure)
FAULTS = {
    "401": ("auth", 401, 60),
    "402": ("billing", 402, 60),
    "403": ("auth", 403, 60),
    "404": ("model_not_found", 404, 60),
    "413": ("payload_too_large", 413, 60),
    "429": ("rate_limit", 429, 60),
    "500": ("server_error", 500, 60),
    "502_html": ("server_error", 502, 60),
    "503": ("server_error", 503, 60),
    "529": ("overloaded", 529, 60),
    "overflow": ("context_overflow", 400, 60),
    "drop": ("connection", None, 60),
    "cut": ("cut_stream", None, 30),
    "cut_clean": ("cut_stream", None, 30),
    "corrupt": ("broken_response", None, 30),
    "html": ("broken_response", None, 30),
    "not_json": ("broken_response", None, 30),
    "no_choices": ("broken_response", None, 30),
    "empty": ("broken_response", None, 30),
    "blank": ("blank", None, 30),
    "reasoning_only": ("reasoning_only", None, 30),
    "tool_markup": ("tool_markup", None, 30),
    "tool_calls": ("tool_markup", None, 30),
    "length": ("cut_short", None, 30),
    "content_filter": ("filtered", None, 30),
}


@pytest.fixture
def session(db):
    return store_session(long_work())


@pytest.fixture
def summariser(settings, scripted_openai):
    """The scripted server as the configured summariser."""
    settings.SUMMARISER_BASE_URL = scripted_openai.base_url
    settings.SUMMARISER_MODEL = "scripted"
    return scripted_openai


@pytest.mark.parametrize("name", FAULTS)
def test_nothing_is_lost_and_the_run_says_why(session, summariser, name):
    reason, status, seconds = FAULTS[name]
    summariser.always(name)
    before = everything_of(session)
    run = run_session(session)

    assert (run.status, run.outcome) == ("failed", "aborted")
    assert (run.reason, run.error_status) == (reason, status)
    assert everything_of(session) == before
    assert len(summariser.requests) == 1  # one budget, no hidden retries
    cooldown = Cooldown.objects.get()
    assert (cooldown.seconds, cooldown.reason, cooldown.failures) == (
        seconds,
        reason,
        1,
    )
    event = RecoveryEvent.objects.get()
    assert (event.reason, event.status_code, event.run) == (reason, status, run)
    assert (event.action, event.delay) == ("kept_all", seconds)
    assert event.endpoint == "scripted"
    session.conversation.refresh_from_db()
    assert reason in session.conversation.last_error


@pytest.mark.parametrize("how", ["stall", "stall_stream", "drip"])
def test_a_stall_ends_at_the_time_limit(session, summariser, settings, how):
    settings.SUMMARISER_TIMEOUT = 1.0
    summariser.always(broken(how, seconds=20))
    before = everything_of(session)
    run = run_session(session)

    assert (run.status, run.reason) == ("failed", "timeout")
    assert everything_of(session) == before
    assert Cooldown.objects.get().seconds == 60


def test_text_longer_than_what_it_replaces_is_discarded(session, summariser):
    summariser.always("too_long")
    before = everything_of(session)
    run = run_session(session)

    assert (run.status, run.outcome, run.reason) == ("completed", "stuck", "no_shrink")
    assert everything_of(session) == before
    assert not Summary.objects.exists()
    cooldown = Cooldown.objects.get()
    assert (cooldown.seconds, cooldown.reason) == (60, "no_shrink")
    assert run.usage["output_tokens"] > session.tokens  # it was paid for all the same


def test_a_long_retry_after_makes_the_cooldown_longer(session, summariser):
    summariser.always(failure(429, message="slow down", retry_after=240))
    run_session(session)

    assert Cooldown.objects.get().seconds == 240


def test_the_ladder_climbs_with_each_failure_in_a_row(session, summariser, operator):
    summariser.always("500")
    for _ in range(4):
        run_session(session, forced=True, operator=operator)

    seconds = Cooldown.objects.order_by("pk").values_list("seconds", flat=True)
    assert list(seconds) == [60, 300, 900, 900]


def test_inside_the_cooldown_no_automatic_call_is_made(session, summariser):
    summariser.always("500")
    run_session(session)
    again = queue_run(session, RunRequest(policy=POLICY, trigger=Trigger.PREFLIGHT))

    assert again.refusal is Refusal.COOLDOWN
    assert len(summariser.requests) == 1


def test_after_a_failure_a_forced_run_makes_everything_good(
    session, summariser, operator
):
    summariser.play("529")
    run_session(session)
    run = run_session(session, forced=True, operator=operator)

    assert run.outcome == "summarised"
    assert active_cooldown(session.conversation) is None
    session.conversation.refresh_from_db()
    assert session.conversation.last_error == ""


@pytest.mark.parametrize("trigger", ["context_overflow", "payload_too_large"])
@pytest.mark.parametrize("name", ["401", "503", "blank", "cut"])
def test_an_agent_that_cannot_go_on_gets_the_embedded_summary(
    session, summariser, name, trigger
):
    summariser.always(name)
    before = load_messages(session)
    run = run_session(session, trigger=Trigger(trigger))

    assert (run.status, run.outcome, run.embedded) == ("completed", "summarised", True)
    assert run.reason == FAULTS[name][0]
    assert run.result_session.summaries.get().origin == "embedded"
    assert RecoveryEvent.objects.get().action == "embedded_stand_in"
    assert active_cooldown(session.conversation) is not None
    assert load_messages(session) == before


@pytest.mark.parametrize(
    ("name", "words"),
    [("hermes", "were removed to free space"), ("tutorial", "summary failed")],
)
def test_the_articles_put_a_text_in_the_place_of_the_middle(
    db, summariser, name, words
):
    session = store_session(long_talk())
    summariser.always("529")
    before = load_messages(session)
    run = run_session(session, policy=preset(name))

    child = run.result_session
    summaries = [m for m in load_messages(child) if m.kind is Kind.SUMMARY]
    assert words in summaries[0].text
    assert (run.status, run.outcome, run.reason) == (
        "completed",
        "summarised",
        "overloaded",
    )
    assert RecoveryEvent.objects.get().action == "placeholder"
    assert active_cooldown(session.conversation) is not None
    assert load_messages(session) == before  # the parent still has all of it


def test_a_secret_in_an_error_is_not_kept(session, summariser):
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF"
    summariser.always(failure(401, message=f"Incorrect API key provided: {secret}"))
    run = run_session(session)

    assert secret not in run.error
    assert secret not in RecoveryEvent.objects.get().detail
    assert secret not in Cooldown.objects.get().error


def test_a_secret_in_a_summary_is_masked(session, summariser):
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF"
    summary = NAMED["ok"].text + f"\n- key {secret}\n"
    summariser.always(Reply(text=summary))
    run = run_session(session)

    assert secret not in run.summaries.get().text


def test_an_endpoint_without_a_model_is_told_apart(session, settings):
    settings.SUMMARISER_BASE_URL = "http://127.0.0.1:9/v1"
    before = everything_of(session)
    run = run_session(session)

    assert (run.status, run.reason) == ("failed", "no_provider")
    assert Cooldown.objects.get().seconds == 600
    assert everything_of(session) == before


def test_nobody_listens(session, settings):
    settings.SUMMARISER_BASE_URL = "http://127.0.0.1:9/v1"
    settings.SUMMARISER_MODEL = "scripted"
    before = everything_of(session)
    run = run_session(session)

    assert (run.status, run.reason) == ("failed", "connection")
    assert everything_of(session) == before
