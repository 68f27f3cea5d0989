"""Exact values, wherever they stand: in speech, in results, deep in arguments."""

from __future__ import annotations

import json

import pytest

from compaction.engine.evidence.collect import collect
from compaction.engine.evidence.items import EvidenceKind
from compaction.engine.evidence.results import unwrapped
from tests.engine.builders import assistant, user
from tests.engine.evidence.saying import found, ran, used

IDENTIFIER = EvidenceKind.IDENTIFIER


@pytest.mark.parametrize(
    "value",
    [
        "3f2a9c1",
        "3f2a9c1d4b5e6f708192a3b4c5d6e7f8091a2b3c",
        "550e8400-e29b-41d4-a716-446655440000",
        "https://example.com/issues/42?tab=1",
        "10.0.3.17:5432",
        "port 8443",
        "v1.24.3",
        "3.11.7",
        "PAY-4711",
        "#1234",
        "2026-11-30",
        "$1,250.00",
        "85%",
        "300 ms",
        "order_58213",
        "MAX_RETRIES=7",
        "端口 8443",
        "3 万元",
    ],
)
@pytest.mark.parametrize("where", ["user", "assistant", "result"])
def test_an_exact_value_is_kept_with_its_line(value: str, where: str):
    line = f"It says {value} over there"
    messages = {
        "user": [user(line)],
        "assistant": [user("Go."), assistant(line)],
        "result": ran("make status", f"begin\n{line}\nend"),
    }[where]

    assert any(value in item.text for item in found(messages, IDENTIFIER))


def test_a_value_deep_in_the_arguments_is_kept():
    arguments = {"spec": {"target": [{"zone": "eu-west-3", "replicas": 4}]}}
    messages = used("deploy", arguments, "ok")

    (item,) = found(messages, EvidenceKind.VALUE)
    assert "target[0].zone=eu-west-3" in item.text  # the end of its path
    assert "target[0].replicas=4" in item.text


def test_a_value_that_was_spoken_of_outweighs_one_in_a_listing():
    listing = "\n".join(f"commit {n:07x}a9 by ann" for n in range(1_000, 1_090))
    messages = [*ran("git log", listing), assistant("Commit 00003eaa9 broke it.")]

    items = sorted(found(messages, IDENTIFIER), key=lambda item: -item.weight)
    assert "00003eaa9" in items[0].text
    assert len(items) < 20


def test_json_results_become_named_values():
    text = json.dumps({"order": {"id": "o-1", "lines": [{"sku": "a", "n": 2}]}})

    assert unwrapped(text).splitlines() == [
        "order.id: o-1",
        "order.lines[0]: sku=a, n=2",
    ]


def test_the_output_within_json_is_read_as_output():
    text = json.dumps({"output": "one\ntwo\n", "metadata": {"exit_code": 2}})

    assert unwrapped(text) == "one\ntwo\n\nexit_code: 2"


@pytest.mark.parametrize("text", ["{", "[1, 2", "{}", "[]", "null", '{"a": NaN}'])
def test_odd_json_is_left_as_text(text: str):
    assert isinstance(unwrapped(text), str)


def test_secrets_are_masked_before_anything_is_kept():
    key = "sk-" + "aB3dE5gH7jK9mN1pQ2rS4tU6"
    messages = [
        user(f"Always use the key {key} and password=hunter2x9."),
        *used("deploy", {"api_key": key, "zone": "eu-1"}, f"token={key}"),
        *ran(f"curl -u ann:hunter2x9 -H 'x: {key}'", f"ValueError: {key} refused"),
    ]

    told = " ".join(f"{item.text} {item.note} {item.key}" for item in collect(messages))
    assert key not in told
    assert "hunter2x9" not in told
    assert "eu-1" in told
