"""The small inputs of the fault reports: every property of every case holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cases.checks import CHECKS
from tests.cases.runner import play, variants
from tests.shared_data import CASES, files_in, needs

STORED = frozenset(
    {
        "cooldown_active",
        "operator_told",
        "previous_summary_unchanged",
        "children_created",
        "second_request_reports",
        "messages_not_duplicated",
        "html_escaped_when_rendered",
        "event_recorded",
        "continuations_used",
    }
)
"""Properties of stored runs and pages: tests/cases/test_stored_cases.py."""


def _params() -> list[Any]:
    cases = [json.loads(path.read_text()) for path in files_in(CASES, "*.json")]
    return [
        pytest.param(case, options, id=name)
        for case in cases
        for name, options in variants(case)
    ]


@needs(CASES)
@pytest.mark.parametrize(("case", "options"), _params())
def test_every_property_of_the_case_holds(case, options):
    played = play(case, options)

    allowed = {*case["expect"]["outcome"]}
    assert played.outcomes[0] in allowed
    for later in played.outcomes[1:]:
        assert later in allowed | {"noop"}
    for prop in case["expect"]["properties"]:
        if prop["check"] not in STORED:
            CHECKS[prop["check"]](played, prop)


@needs(CASES)
def test_every_property_that_a_case_names_has_a_check():
    named = {
        prop["check"]
        for path in files_in(CASES, "*.json")
        for prop in json.loads(path.read_text())["expect"]["properties"]
    }

    assert named <= set(CHECKS) | STORED
