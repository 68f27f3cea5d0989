"""Real conversations of other people's agents, under every preset and window."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from compaction.engine.compactor import Compaction, compact
from compaction.engine.messages import Kind, Message, from_dict
from compaction.engine.plan import OpenCalls, Outcome, Situation
from compaction.engine.policy import CompactionPolicy
from compaction.engine.presets import PRESETS
from compaction.engine.tokens import RoughCounter
from compaction.engine.triggers import Trigger
from compaction.sources import SourceLimits, read_conversations
from tests.engine.builders import ScriptedModel, group, user
from tests.engine.invariants import CHANGED, check_compaction
from tests.shared_data import HERMES_STATE, TRANSCRIPTS, files_in, needs

COUNTER = RoughCounter()
WINDOWS = (32_000, 64_000, 128_000, 200_000)
SUMMARY = "## Goal\nGo on.\n## Next Steps\n- the rest\n" + "detail " * 300
AUTO = Situation(trigger=Trigger.PREFLIGHT, open_calls=OpenCalls.LEAVE)
MANUAL = replace(AUTO, trigger=Trigger.MANUAL)


@cache
def transcript(path: Path) -> tuple[Message, ...]:
    raw = json.loads(path.read_text())["messages"]
    return tuple(from_dict(message) for message in raw)


@cache
def states(path: Path) -> tuple[tuple[Message, ...], ...]:
    """The messages of every session in a Hermes database."""
    return tuple(
        tuple(m.message for m in session.messages if not m.inactive)
        for conversation in read_conversations(path, limits=SourceLimits())
        for session in conversation.sessions
    )


def run(
    messages: tuple[Message, ...], policy: CompactionPolicy, situation: Situation
) -> Compaction:
    done = compact(
        messages, policy, ScriptedModel([SUMMARY]), COUNTER, situation=situation
    )
    check_compaction(messages, done)
    return done


@needs(TRANSCRIPTS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
@pytest.mark.parametrize("path", files_in(TRANSCRIPTS, "*.json"), ids=lambda p: p.stem)
def test_a_real_transcript_keeps_every_invariant(path, preset, window):
    policy = preset.evolve(context_length=window)
    for situation in (AUTO, MANUAL):
        run(transcript(path), policy, situation)


@needs(TRANSCRIPTS)
@pytest.mark.parametrize("path", files_in(TRANSCRIPTS, "*.json"), ids=lambda p: p.stem)
def test_three_compactions_in_a_row_end_below_the_threshold(path):
    """Each round the whole transcript comes in again behind what the last one left."""
    policy = PRESETS["default"].evolve(context_length=64_000)
    body = tuple(m for m in transcript(path) if not m.is_system)
    messages, situation = transcript(path), AUTO
    for number in range(3):
        done = run(messages, policy, situation)
        if done.outcome is Outcome.STUCK:
            assert done.plan.sizes.middle_count < len(messages) / 2
        changed = done.outcome in CHANGED
        situation = replace(situation, compactions=situation.compactions + changed)
        messages = (*done.messages, *body, user(f"round {number}"))
    summaries = [m for m in messages if m.kind is Kind.SUMMARY or m.carried_summary]

    assert len(summaries) <= 1


@needs(HERMES_STATE)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
@pytest.mark.parametrize("path", files_in(HERMES_STATE, "*.db"), ids=lambda p: p.stem)
def test_a_real_hermes_session_keeps_every_invariant(path, preset, window):
    policy = preset.evolve(context_length=window)
    assert states(path)
    for messages in states(path):
        for situation in (AUTO, MANUAL):
            run(messages, policy, replace(situation, compactions=1))


@needs(TRANSCRIPTS)
def test_a_long_real_transcript_shrinks_to_a_fraction():
    path = TRANSCRIPTS / "16-pi-large-session.json"
    policy = PRESETS["default"].evolve(context_length=128_000)

    done = run(transcript(path), policy, AUTO)

    assert done.outcome is Outcome.SUMMARISED
    assert done.tokens_after < 0.25 * done.plan.tokens_before


@needs(TRANSCRIPTS)
def test_a_second_run_right_after_the_first_is_not_due():
    """openclaw#12170: a second pass fired at 1,489 tokens."""
    path = TRANSCRIPTS / "10-minisweagent-django11910.json"
    policy = PRESETS["default"].evolve(context_length=128_000)
    first = run(transcript(path), policy, AUTO)

    second = run(first.messages, policy, replace(AUTO, compactions=1))

    assert second.outcome is Outcome.NOOP
    grown = (*first.messages, *group("more", "output " * 50))
    assert run(grown, policy, AUTO).outcome is Outcome.NOOP
