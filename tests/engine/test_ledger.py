"""The ledger: one entry per message, and the rule that decided."""

from __future__ import annotations

import pytest
from hypothesis import given

from compaction.engine.ledger import (
    Pruned,
    Region,
    Rule,
    entry_from_dict,
    entry_to_dict,
    ledger_between,
    ledger_of,
)
from compaction.engine.messages import Kind
from compaction.engine.outline import outline_of
from compaction.engine.plan import OpenCalls, Situation, Verdict
from compaction.engine.planning import plan_outline
from compaction.engine.presets import DEFAULT
from compaction.engine.tokens import RoughCounter
from tests.engine.builders import (
    assistant,
    group,
    long_conversation,
    result,
    system,
    user,
)
from tests.engine.strategies import broken_conversations

COUNTER = RoughCounter()
POLICY = DEFAULT.evolve(threshold_cap=1_000, tail_tokens=200, prune_enough=None)


def ledger(messages, policy=POLICY, **situation):
    outline = outline_of(messages, COUNTER)
    made = plan_outline(outline, policy, situation=Situation(**situation))
    return made, ledger_of(made, outline)


def test_every_message_has_one_entry_and_a_rule():
    messages = long_conversation()
    made, entries = ledger(messages)

    assert [e.position for e in entries] == list(range(len(messages)))
    assert made.verdict is Verdict.SUMMARISE
    regions = [e.region for e in entries]
    assert regions[0] is Region.HEAD
    assert regions[-1] is Region.TAIL
    assert regions.count(Region.MIDDLE) == made.sizes.middle_count


def test_the_rules_say_why():
    rules = [e.rule for e in ledger(long_conversation())[1]]

    assert rules[0] is Rule.SYSTEM_PROMPT
    assert rules[1] is Rule.PROTECT_FIRST
    assert rules[8] is Rule.SUMMARISED
    assert rules[-1] is Rule.TAIL_BUDGET


def test_what_is_summarised_costs_nothing_afterwards():
    _, entries = ledger(long_conversation())

    for entry in entries:
        if entry.region is Region.MIDDLE:
            assert entry.tokens_after == 0
        elif not entry.pruned:
            assert entry.tokens_after == entry.tokens


def test_a_second_equal_output_is_a_duplicate_of_the_later_one():
    messages = long_conversation()
    messages[5] = messages[5].evolve(content=messages[9].content)

    entry = ledger(messages)[1][5]

    assert entry.pruned is Pruned.DUPLICATE
    assert entry.detail["same_as"] == 9


def test_a_pinned_message_is_kept_by_that_rule():
    messages = long_conversation()
    messages[9] = messages[9].evolve(pinned=True)
    entries = ledger(messages)[1]

    assert (entries[9].region, entries[9].rule) == (Region.KEPT, Rule.PINNED)
    assert entries[8].rule is Rule.SAME_GROUP
    assert entries[9].pruned is Pruned.NO


def test_a_dropped_message_says_so():
    messages = long_conversation()
    messages[-2] = messages[-2].evolve(dropped=True)

    entry = ledger(messages)[1][-2]

    assert (entry.region, entry.rule) == (Region.DROPPED, Rule.DROPPED_BY_OPERATOR)
    assert entry.tokens_after == 0


def test_the_running_summary_is_the_previous_one():
    messages = long_conversation()
    messages[2:2] = [assistant("old").evolve(kind=Kind.SUMMARY), user("more")]

    entries = ledger(messages, compactions=1)[1]

    assert entries[2].rule is Rule.PREVIOUS_SUMMARY


def test_a_message_that_left_the_head_says_so():
    entries = ledger(long_conversation(), compactions=1)[1]

    assert entries[1].region is Region.MIDDLE
    assert entries[1].rule is Rule.HEAD_DECAYED


def test_a_newest_request_far_back_is_kept_by_name():
    rounds = [m for n in range(8) for m in group(f"g{n}", "x" * 900)]
    messages = [system(), *group("a"), user("newest"), *rounds]
    entries = ledger(messages, POLICY.evolve(protect_first=0))[1]

    assert entries[3].rule is Rule.NEWEST_USER


def test_an_open_call_is_named():
    messages = [*long_conversation(), assistant("", calls=["x", "y"]), result("x")]

    entries = ledger(messages, open_calls=OpenCalls.LEAVE)[1]

    assert entries[-2].rule is Rule.OPEN_CALL


def test_when_nothing_changes_every_message_costs_what_it_costs():
    made, entries = ledger([system(), user(), assistant(), user()])

    assert not made.changes
    assert all(e.tokens_after == e.tokens for e in entries)


def test_a_window_of_the_ledger_is_that_part_of_the_whole():
    messages = long_conversation()
    outline = outline_of(messages, COUNTER)
    made = plan_outline(outline, POLICY)

    assert ledger_between(made, outline, 5, 11) == ledger_of(made, outline)[5:11]
    assert ledger_between(made, outline, 20, 999) == ledger_of(made, outline)[20:]


@given(broken_conversations())
def test_entries_survive_being_stored(messages):
    for entry in ledger(messages)[1]:
        assert entry_from_dict(entry_to_dict(entry)) == entry


@pytest.mark.parametrize("rule", list(Rule))
def test_every_rule_has_a_code_that_templates_can_name(rule):
    assert rule.value.isidentifier()
