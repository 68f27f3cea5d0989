"""Policies: impossible values are refused by name."""

from __future__ import annotations

import pytest

from compaction.engine.policy import PolicyError
from compaction.engine.presets import DEFAULT


def test_the_threshold_leaves_the_answer_its_room():
    """hermes#43547: a window of 128K with 64K reserved is a window of 64K."""
    policy = DEFAULT.evolve(context_length=128_000, reserved_output=64_000)

    assert policy.threshold_tokens == 32_000


def test_the_lower_of_ratio_and_cap_wins():
    assert DEFAULT.evolve(threshold_cap=30_000).threshold_tokens == 30_000
    assert DEFAULT.evolve(threshold_cap=900_000).threshold_tokens == 100_000


def test_the_tail_is_a_share_of_the_threshold_unless_it_is_stated():
    assert DEFAULT.tail_budget == 20_000
    assert DEFAULT.evolve(tail_tokens=7_000).tail_budget == 7_000


def test_the_default_summary_is_at_most_a_twentieth_of_the_window():
    assert DEFAULT.evolve(context_length=100_000).summary_budget(90_000) == 5_000


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("context_length", 10),
        ("reserved_output", -1),
        ("reserved_output", 200_000),
        ("threshold_ratio", 0),
        ("threshold_ratio", 1.2),
        ("threshold_cap", 3),
        ("protect_first", -1),
        ("protect_first_after", -1),
        ("tail_ratio", 1),
        ("tail_tokens", 0),
        ("tail_ceiling", 0.5),
        ("min_tail", -1),
        ("prune_min_chars", 0),
        ("prune_enough", 1.5),
        ("clip_over_chars", 100),
        ("args_over_chars", 100),
        ("summary_ratio", 0),
        ("summary_min", 20_000),
        ("min_shrink", 0),
    ],
)
def test_a_value_that_cannot_work_is_refused_by_its_name(field, value):
    with pytest.raises(PolicyError) as refused:
        DEFAULT.evolve(**{field: value})

    assert refused.value.field == field
