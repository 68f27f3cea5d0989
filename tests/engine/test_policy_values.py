"""Policies as plain values: stored and read back, loose values read, others refused."""

from __future__ import annotations

import pytest

from compaction.engine.policy import CutRule, PolicyError
from compaction.engine.policy_values import (
    policy_from_dict,
    policy_to_dict,
    read_overrides,
)
from compaction.engine.presets import PRESETS


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_a_policy_survives_being_stored(preset):
    assert policy_from_dict(policy_to_dict(preset)) == preset


def test_an_unknown_name_is_refused():
    with pytest.raises(PolicyError, match="no policy has a value"):
        policy_from_dict({"treshold": 1})


def test_loose_values_are_read_as_their_fields_want_them():
    read = read_overrides(
        {
            "context_length": "128,000",
            "threshold_ratio": "0.6",
            "threshold_cap": "",
            "system_note": "off",
            "cut_rule": "align_tool",
        }
    )

    assert read == {
        "context_length": 128_000,
        "threshold_ratio": 0.6,
        "threshold_cap": None,
        "system_note": False,
        "cut_rule": CutRule.ALIGN_TOOL,
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("context_length", "many"),
        ("system_note", "perhaps"),
        ("cut_rule", "x"),
        ("min_tail", None),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(name, value):
    with pytest.raises(PolicyError) as refused:
        read_overrides({name: value})

    assert refused.value.field == name
