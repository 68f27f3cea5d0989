"""The three steps in a row, and what comes of them."""

from __future__ import annotations

import pytest

from compaction.engine.compactor import compact, failure_text, find_summary, plan
from compaction.engine.llm import ErrorKind, ModelError
from compaction.engine.messages import Kind
from compaction.engine.phases.summary_text import wrap_summary
from compaction.engine.plan import Outcome, Situation
from compaction.engine.presets import DEFAULT, HERMES, TUTORIAL
from compaction.engine.tokens import RoughCounter
from compaction.engine.triggers import Trigger
from tests.engine.builders import (
    ScriptedModel,
    assistant,
    group,
    long_conversation,
    user,
)

COUNTER = RoughCounter()
POLICY = DEFAULT.evolve(threshold_cap=1_000, tail_tokens=200, prune_enough=None)
REFUSED = ModelError(kind=ErrorKind.STATUS, message="overloaded", status=529)


def run(model, messages=None, policy=POLICY, **situation):
    return compact(
        messages or long_conversation(),
        policy,
        model,
        COUNTER,
        situation=Situation(**situation),
    )


def test_a_failed_summary_loses_nothing():
    """hermes#29559, hermes#94606: whole sessions were lost."""
    messages = long_conversation()

    done = run(ScriptedModel([REFUSED]), messages)

    assert done.outcome is Outcome.ABORTED
    assert list(done.messages) == messages
    assert done.failure.error.status == 529


def test_a_summary_longer_than_what_it_replaces_is_thrown_away():
    """roo#4061: 404 tokens became 17,133."""
    messages = long_conversation()

    done = run(ScriptedModel(["## Goal\n" + "word " * 9_000]), messages)

    assert done.outcome is Outcome.STUCK
    assert list(done.messages) == messages


def test_the_articles_go_on_without_the_middle():
    hermes = HERMES.evolve(threshold_cap=1_000, tail_tokens=200, message_gate=None)
    tutorial = TUTORIAL.evolve(threshold_cap=1_000, tail_tokens=200, prune_enough=None)

    for policy, words in ((hermes, "were removed"), (tutorial, "overloaded")):
        done = run(ScriptedModel([REFUSED]), policy=policy)
        (summary,) = [m for m in done.messages if m.kind is Kind.SUMMARY]
        assert words in summary.text
        assert done.failure is not None


def test_ours_has_no_text_for_a_failure():
    done = run(ScriptedModel([REFUSED]))

    assert failure_text(done.plan, done.failure) is None


def test_the_running_summary_is_replaced_not_kept():
    first = run(ScriptedModel(["## Goal\nfirst"]))
    grown = [*first.messages, user("more"), *group("z", "x " * 900), assistant("ok")]

    second = run(ScriptedModel(["## Goal\nsecond"]), grown, compactions=1)

    texts = [m.carried_summary or m.text for m in second.messages]
    assert second.outcome is Outcome.SUMMARISED
    assert sum("CONTEXT COMPACTION" in t for t in texts) == 1
    assert any("second" in t for t in texts)


def test_the_running_summary_is_found_in_both_shapes():
    text = wrap_summary("## Goal\nx")
    own = assistant(text).evolve(kind=Kind.SUMMARY)
    carried = assistant("mine").evolve(carried_summary=text)

    assert find_summary([user(), own]) == "## Goal\nx"
    assert find_summary([user(), carried]) == "## Goal\nx"
    assert find_summary([user(), assistant(text)]) == ""


def test_an_edited_summary_is_what_the_update_starts_from():
    model = ScriptedModel()

    run(model, previous_summary="## Goal\nEdited by hand.", compactions=1)

    assert "Edited by hand." in model.requests[0].messages[1]["content"]


def test_a_message_that_carried_a_summary_keeps_its_own_words():
    """The real Hermes loses them at the next pass."""
    host = assistant("My own words.").evolve(carried_summary=wrap_summary("## Goal\nx"))
    messages = [*long_conversation()[:2], host, *long_conversation()[2:]]

    model = ScriptedModel()
    run(model, messages, compactions=1, policy=POLICY.evolve(protect_first=0))

    sent = model.requests[0].messages[1]["content"]
    assert "My own words." in sent


@pytest.mark.parametrize("trigger", list(Trigger))
def test_nothing_happens_to_nothing(trigger):
    done = compact(
        [], DEFAULT, ScriptedModel(), COUNTER, situation=Situation(trigger=trigger)
    )

    assert done.outcome is Outcome.NOOP
    assert done.messages == ()


def test_what_was_previewed_is_what_is_done():
    messages = long_conversation()
    preview = plan(messages, POLICY, COUNTER)

    done = run(ScriptedModel(), messages)

    assert done.plan.digest == preview.digest


def test_the_origins_lead_back_to_the_input():
    messages = long_conversation()
    done = run(ScriptedModel(), messages)

    for message, origin in zip(done.messages, done.origins, strict=True):
        if origin is None:
            assert message.kind is Kind.SUMMARY
        elif origin not in done.assembly.edited and origin > 0:
            assert message == messages[origin]
