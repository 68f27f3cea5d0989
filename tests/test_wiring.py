"""Settings in, engine objects out."""

from __future__ import annotations

import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from compaction import wiring
from compaction.adapters.embedded_summariser import EmbeddedSummariser
from compaction.adapters.openai_chat import OpenAIChat
from compaction.engine.llm import ChatRequest
from compaction.models import Endpoint
from tests.server.replies import SUMMARY, Reply

pytestmark = pytest.mark.django_db


def test_without_an_endpoint_the_embedded_summariser_writes():
    assert wiring.turn_endpoints() == ()
    assert isinstance(wiring.get_summariser(), EmbeddedSummariser)
    assert wiring.summariser_window() == wiring.EMBEDDED_WINDOW


def test_a_named_endpoint_is_asked_with_the_key_of_the_named_variable(
    settings, monkeypatch, scripted_openai
):
    monkeypatch.setenv("A_KEY", "the key")
    settings.SUMMARISER_BASE_URL = scripted_openai.base_url
    settings.SUMMARISER_MODEL = "scripted"
    settings.SUMMARISER_API_KEY_ENV = "A_KEY"
    settings.SUMMARISER_WINDOW = 64_000
    summariser = wiring.get_summariser()
    assert isinstance(summariser, OpenAIChat)
    summariser.complete(ChatRequest(messages=({"role": "user", "content": "hi"},)))

    assert (summariser.window, wiring.summariser_window()) == (64_000, 64_000)
    request = scripted_openai.requests[0]
    assert request.headers["authorization"] == "Bearer the key"
    assert request.body["model"] == "scripted"
    assert "the key" not in repr(summariser)


@pytest.mark.parametrize("seconds", [60.0, 600.0])
def test_the_time_that_an_operator_allows_is_the_limit(settings, seconds):
    settings.SUMMARISER_BASE_URL = "http://127.0.0.1:9/v1"
    settings.SUMMARISER_TIMEOUT = seconds
    summariser = wiring.get_summariser()

    request = ChatRequest(messages=())
    assert isinstance(summariser, OpenAIChat)
    assert min(summariser.timeout, request.timeout) == seconds


def test_a_slow_answer_may_take_as_long_as_an_operator_allows(
    settings, scripted_openai
):
    scripted_openai.play(Reply(text=SUMMARY, delay=0.02))
    settings.SUMMARISER_BASE_URL = scripted_openai.base_url
    settings.SUMMARISER_MODEL = "scripted"
    settings.SUMMARISER_TIMEOUT = 30.0
    summariser = wiring.get_summariser()
    assert isinstance(summariser, OpenAIChat)

    assert summariser.complete(ChatRequest(messages=())).text == SUMMARY


@pytest.mark.parametrize("prices", [(None, Decimal(2)), (Decimal(1), None)])
def test_one_price_alone_is_no_price(settings, prices):
    settings.SUMMARISER_BASE_URL = "http://127.0.0.1:9/v1"
    settings.SUMMARISER_INPUT_PRICE, settings.SUMMARISER_OUTPUT_PRICE = prices

    assert wiring.summariser_prices() is None


def test_two_prices_are_given_for_input_and_output(settings):
    settings.SUMMARISER_BASE_URL = "http://127.0.0.1:9/v1"
    settings.SUMMARISER_INPUT_PRICE = Decimal("0.1")
    settings.SUMMARISER_OUTPUT_PRICE = Decimal(2)

    prices = wiring.Prices(input=Decimal("0.1"), output=Decimal(2))
    assert wiring.summariser_prices() == prices


def test_a_key_alone_answers_turns_and_writes_summaries(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-only-for-this-test")

    (spec,) = wiring.turn_endpoints()

    assert spec.base_url == "https://api.openai.com/v1"
    assert spec.has_key
    assert wiring.summariser_endpoint() == spec


def test_a_key_alone_sends_no_file_of_the_command_line_anywhere(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-only-for-this-test")

    assert wiring.environment_summariser() == wiring.get_stand_in()
    assert wiring.environment_summariser_window() > 200_000


def test_an_endpoint_of_the_page_that_only_answers_turns_writes_no_summary():
    Endpoint.objects.create(name="turns", base_url="http://192.0.2.1/v1", model="m")

    assert [spec.name for spec in wiring.turn_endpoints()] == ["turns"]
    assert wiring.describe_summariser().is_embedded


def test_the_environment_waits_while_the_page_has_the_same_task(settings):
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    Endpoint.objects.create(name="mine", base_url="http://192.0.2.1/v1", model="m")

    assert [spec.name for spec in wiring.turn_endpoints()] == ["mine"]
    assert wiring.summariser_endpoint().name == "environment"


def test_summaries_go_to_the_page_then_to_the_summariser_then_to_openai(settings):
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    order = [wiring.summariser_endpoint().name]
    settings.SUMMARISER_BASE_URL = "http://127.0.0.1:9/v1"
    order.append(wiring.summariser_endpoint().name)
    Endpoint.objects.create(
        name="mine", base_url="http://192.0.2.1/v1", model="m", writes_summaries=True
    )
    order.append(wiring.summariser_endpoint().name)

    assert order == ["environment", "environment-summaries", "mine"]


def test_endpoints_are_asked_in_their_order_and_disabled_ones_never():
    for position, name in enumerate(("third", "off", "first", "second")):
        Endpoint.objects.create(
            name=name,
            base_url="http://192.0.2.1/v1",
            model="m",
            enabled=name != "off",
            position=position + (9 if name == "third" else 0),
        )

    names = [spec.name for spec in wiring.turn_endpoints()]
    assert names == ["first", "second", "third"]


def test_an_endpoint_of_the_page_reaches_public_addresses_alone_unless_permitted():
    endpoint = Endpoint(name="one", base_url="http://192.0.2.1/v1", model="m")
    assert wiring.to_spec(endpoint).rule == "public"
    endpoint.allow_private = True
    assert wiring.to_spec(endpoint).rule == "private"


def test_a_wake_up_counts_as_lost_no_later_than_a_lease_runs_out(settings):
    settings.RUN_LEASE_SECONDS = 2.0

    assert wiring.lease_limits().resend_seconds <= 2.0


def test_a_slow_summariser_may_keep_its_run_for_longer():
    usual = wiring.lease_limits().work_seconds
    Endpoint.objects.create(
        name="slow",
        base_url="http://192.0.2.1/v1",
        model="m",
        writes_summaries=True,
        timeout=3_000,
    )

    assert wiring.lease_limits().work_seconds == 30_000 > usual


def test_no_test_sees_a_key_that_lies_around_in_the_shell():
    environ = {k: v for k, v in os.environ.items() if k != "HERMES_WEB_TEST_DATA"}
    environ |= {"OPENAI_API_KEY": "sk-real", "SUMMARISER_BASE_URL": "https://real/v1"}
    script = (
        "import django; django.setup(); from compaction import wiring; "
        "print(wiring.environment_endpoints())"
    )
    environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

    said = subprocess.run(
        [sys.executable, "-c", script],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )

    assert said.stdout.strip() == "()"
