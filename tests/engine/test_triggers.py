"""When a run is due."""

from __future__ import annotations

import pytest

from compaction.engine.presets import DEFAULT, HERMES
from compaction.engine.triggers import Trigger, is_due

AT = DEFAULT.threshold_tokens


@pytest.mark.parametrize("trigger", [Trigger.PREFLIGHT, Trigger.IN_LOOP, Trigger.IDLE])
def test_tokens_decide(trigger):
    assert is_due(AT, 3, trigger, DEFAULT)
    assert not is_due(AT - 1, 3_000, trigger, DEFAULT)


@pytest.mark.parametrize(
    "trigger",
    [
        Trigger.MANUAL,
        Trigger.CONTEXT_OVERFLOW,
        Trigger.PAYLOAD_TOO_LARGE,
        Trigger.LONG_CONTEXT_TIER,
    ],
)
def test_who_must_have_it_gets_it(trigger):
    assert is_due(1, 1, trigger, DEFAULT)


@pytest.mark.parametrize(("count", "due"), [(24, False), (25, True)])
def test_article_000s_gate_guards_the_preflight_alone(count, due):
    assert is_due(AT, count, Trigger.PREFLIGHT, HERMES) is due
    assert is_due(AT, count, Trigger.IN_LOOP, HERMES)
