"""Layers of policy: the last one wins, and says that it did."""

from __future__ import annotations

import pytest

from compaction.engine.effective import Layer, differences, lay_over
from compaction.engine.policy import PolicyError
from compaction.engine.presets import DEFAULT, HERMES

PROFILE = Layer(source="profile", values={"tail_ratio": "0.3", "min_tail": 5})
SESSION = Layer(source="session", values={"min_tail": "7"})


def test_the_last_layer_wins_and_is_named():
    found = lay_over(DEFAULT, [PROFILE, SESSION])

    assert (found.policy.tail_ratio, found.policy.min_tail) == (0.3, 7)
    assert found.sources == {"tail_ratio": "profile", "min_tail": "session"}


def test_without_layers_the_preset_is_in_force():
    assert lay_over(HERMES, []).policy == HERMES


def test_values_that_cannot_work_together_are_refused():
    with pytest.raises(PolicyError):
        lay_over(DEFAULT, [Layer(source="a", values={"summary_min": 50_000})])


def test_differences_name_both_values():
    changed = DEFAULT.evolve(min_tail=9)

    assert differences(changed) == {"min_tail": (3, 9)}
    assert "message_gate" in differences(HERMES)
    assert differences(DEFAULT) == {}
