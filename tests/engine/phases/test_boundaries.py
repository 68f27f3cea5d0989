"""Where head, middle and tail meet, and why."""

from __future__ import annotations

import pytest

from compaction.engine.messages import Kind
from compaction.engine.outline import outline_of
from compaction.engine.phases.boundaries import find_head_end, measure, split
from compaction.engine.plan import Situation
from compaction.engine.presets import DEFAULT, HERMES, TUTORIAL
from compaction.engine.tokens import CharsOverFour
from compaction.engine.triggers import Trigger
from tests.engine.builders import (
    assistant,
    call,
    group,
    long_conversation,
    result,
    system,
    user,
)

COUNTER = CharsOverFour()
SMALL = DEFAULT.evolve(threshold_cap=1_000, tail_tokens=200)
AUTO = Situation(trigger=Trigger.PREFLIGHT)


def parts(messages, policy=SMALL, situation=AUTO):
    return split(outline_of(messages, COUNTER), policy, situation)


def head_end(messages, policy=SMALL, **given):
    return find_head_end(outline_of(messages, COUNTER), policy, **given)


def test_the_head_is_the_system_prompt_and_three_messages():
    messages = [system(), user(), assistant(), user(), assistant(), user()]

    assert head_end(messages, SMALL.evolve(protect_first=2)) == 3


def test_several_system_messages_are_all_head():
    messages = [system(), system("more"), user(), assistant(), user()]

    assert head_end(messages, SMALL.evolve(protect_first=0)) == 2


def test_after_the_first_compaction_only_the_system_prompt_is_head():
    """hermes#11996: early user turns become immortal otherwise."""
    messages = [system(), user(), assistant(), user(), assistant()]

    assert head_end(messages, compactions=1) == 1


def test_the_head_takes_a_whole_tool_group():
    messages = [system(), user(), *group("a"), *group("b"), user()]

    assert head_end(messages, SMALL.evolve(protect_first=2)) == 4


def test_a_huge_group_is_left_out_of_the_head_instead():
    messages = [system(), user(), *group("a", "x" * 9_000), assistant(), user()]

    assert head_end(messages, SMALL.evolve(protect_first=2)) == 2


def test_a_huge_first_request_is_not_protected_for_ever():
    messages = [system(), user("x" * 9_000), assistant(), user()]

    assert head_end(messages, SMALL.evolve(protect_first=1)) == 1


def test_a_later_question_leaves_the_head_with_its_answer():
    """hermes#22523: cut from its reply it reads as pending."""
    messages = [system(), user(), assistant(), user("later"), assistant(), user()]

    assert head_end(messages, SMALL.evolve(protect_first=3)) == 3


def test_an_old_summary_is_never_head():
    summary = assistant("old").evolve(kind=Kind.SUMMARY)
    messages = [system(), summary, user(), assistant()]

    assert head_end(messages, HERMES) == 1


def test_the_tail_is_what_the_budget_holds():
    messages = long_conversation(rounds=20, size=400)
    found = parts(messages)
    outline = outline_of(messages, COUNTER)

    tail = outline.tokens_between(found.tail_start, len(messages))
    assert tail <= SMALL.tail_budget * SMALL.tail_ceiling + 130  # one group
    assert found.tail_start < len(messages) - 2


@pytest.mark.parametrize("budget", range(10, 1_500, 70))
def test_whatever_the_budget_the_tail_begins_at_a_safe_cut(budget):
    messages = long_conversation()

    found = parts(messages, SMALL.evolve(tail_tokens=budget))

    assert found.tail_start in outline_of(messages, COUNTER).cuts
    assert not messages[found.tail_start].is_result


def test_the_newest_request_behind_the_budget_is_kept_apart():
    """hermes#10896: it was summarised, and an older task ran again."""
    rounds = [m for n in range(8) for m in group(f"g{n}", "x" * 900)]
    messages = [system(), user("old"), *rounds[:4], user("newest"), *rounds[4:]]

    found = parts(messages, SMALL.evolve(protect_first=1))

    assert messages.index(user("newest")) in found.kept


def test_a_near_anchor_is_reached_by_the_tail_itself():
    talk = [user("question"), assistant("answer")] * 20
    messages = [system(), *talk, user("newest"), *group("a", "x" * 500)]

    found = parts(messages)

    assert messages.index(user("newest")) >= found.tail_start
    assert found.kept == ()


def test_a_pinned_result_keeps_its_whole_group():
    messages = long_conversation()
    messages[9] = messages[9].evolve(pinned=True)

    found = parts(messages)

    assert {8, 9} <= set(found.kept)


def test_the_tail_never_reaches_back_over_the_running_summary():
    summary = assistant("old").evolve(kind=Kind.SUMMARY)
    messages = [system(), user("a"), summary, user("b"), assistant("c"), user("d")]

    found = parts(messages, SMALL, Situation(trigger=Trigger.PREFLIGHT, compactions=1))

    assert found.tail_start >= 3


def test_a_manual_run_below_the_threshold_takes_its_share_of_what_is_there():
    messages = long_conversation(rounds=10)
    policy = DEFAULT.evolve(context_length=1_000_000)

    automatic = parts(messages, policy, AUTO)
    manual = parts(messages, policy, Situation(trigger=Trigger.MANUAL))

    assert automatic.tail_start == automatic.head_end
    assert manual.tail_start > manual.head_end


def test_the_tutorial_clears_all_but_the_three_newest_results():
    messages = long_conversation(rounds=6)
    results = [i for i, m in enumerate(messages) if m.is_result]

    found = parts(messages, TUTORIAL)

    assert [i for i in results if i >= found.prune_before] == results[-3:]


def test_the_sizes_add_up_to_the_whole():
    messages = long_conversation(rounds=20)
    outline = outline_of(messages, COUNTER)
    sizes = measure(outline, split(outline, SMALL, AUTO))

    assert sizes.head + sizes.kept + sizes.middle + sizes.tail == sizes.total
    assert sizes.messages == len(messages)


def test_nothing_is_cut_from_nothing():
    found = parts([])

    assert (found.head_end, found.tail_start, found.kept) == (0, 0, ())


def test_a_fan_out_of_twelve_is_whole_or_absent():
    """langchainjs#9740: a backward search looked at five messages only."""
    ids = [f"p{n}" for n in range(12)]
    fan = [assistant("", calls=[call(i) for i in ids]), *(result(i) for i in ids)]
    messages = [system(), user(), *fan, assistant("done"), user("next")]

    for keep in range(1, 14):
        found = parts(messages, SMALL.evolve(min_tail=keep, tail_tokens=1))
        inside = [found.tail_start <= i for i in range(2, 15)]
        assert all(inside) or not any(inside)
