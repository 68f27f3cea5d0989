"""The outline: safe cuts, prefix sums, anchors, open calls."""

from __future__ import annotations

from compaction.engine.messages import Kind
from compaction.engine.outline import Outline, digest_of, facts_of, outline_of, recount
from compaction.engine.presets import DEFAULT, HERMES
from compaction.engine.tokens import CharsOverFour, RoughCounter
from tests.engine.builders import assistant, call, group, result, system, user

COUNTER = CharsOverFour()


def cuts(messages) -> list[int]:
    return list(outline_of(messages, COUNTER).cuts)


def test_plain_turns_may_be_cut_anywhere():
    assert cuts([system(), user(), assistant()]) == [0, 1, 2, 3]


def test_a_call_and_its_result_are_one():
    assert cuts([user(), *group("a"), user()]) == [0, 1, 3, 4]


def test_parallel_calls_and_their_results_are_one():
    fan_out = [
        assistant("", calls=["a", "b", "c"]),
        result("b"),
        result("c"),
        result("a"),
    ]

    assert cuts([user(), *fan_out, user()]) == [0, 1, 5, 6]


def test_interleaved_results_join_both_groups():
    """langchain#38352: the results of two calls come crosswise."""
    crossed = [
        assistant("", calls=["a"]),
        assistant("", calls=["b"]),
        result("a"),
        result("b"),
    ]

    assert cuts([user(), *crossed]) == [0, 1, 5]


def test_a_late_result_binds_everything_up_to_its_call():
    late = [assistant("", calls=["a"]), user("wait"), assistant("yes"), result("a")]

    assert cuts(late) == [0, 4]


def test_a_reused_id_binds_only_the_nearest_call():
    twice = [*group("same"), user(), *group("same")]

    assert cuts(twice) == [0, 2, 3, 5]


def test_two_waiting_calls_of_one_id_are_answered_newest_first():
    nested = [
        assistant("", calls=["same"]),
        user("wait"),
        assistant("", calls=["same"]),
        result("same"),
        user("and?"),
        result("same"),
        result("same"),
    ]
    outline = outline_of(nested, COUNTER)

    assert [outline.call_of(position) for position in (3, 5, 6)] == [2, 0, 2]
    assert list(outline.cuts) == [0, 7]
    assert not outline.open_calls()


def test_an_outline_grows_to_what_it_would_be_at_once():
    messages = [system(), *group("a", "x" * 900), user(), *group("a"), assistant()]
    at_once = outline_of(messages, COUNTER)
    grown = Outline()
    for fact in at_once.facts:
        grown.append(fact)

    names = Outline.__slots__
    assert [getattr(grown, n) for n in names] == [getattr(at_once, n) for n in names]


def test_an_orphan_result_binds_nothing():
    assert cuts([user(), result("nobody"), user()]) == [0, 1, 2, 3]


def test_a_second_result_of_a_call_stays_with_its_group():
    assert cuts([*group("a"), result("a"), user()]) == [0, 3, 4]


def test_an_unanswered_call_of_the_past_binds_nothing():
    assert cuts([assistant("", calls=["a"]), user()]) == [0, 1, 2]


def test_sums_are_those_of_the_messages():
    messages = [system(), user(), *group("a", "x" * 900), assistant()]
    outline = outline_of(messages, COUNTER)
    each = [facts_of(m, COUNTER).tokens for m in messages]

    assert outline.tokens == sum(each)
    assert outline.tokens_between(1, 4) == sum(each[1:4])


def test_the_tail_is_the_longest_that_fits():
    outline = outline_of([user("a" * 40) for _ in range(10)], COUNTER)
    one = outline[0].tokens

    assert outline.tail_from(3 * one) == 7
    assert outline.tail_from(3 * one - 1) == 8
    assert outline.tail_from(10_000) == 0
    assert outline.tail_from(0) == 10


def test_a_group_is_found_from_any_of_its_messages():
    outline = outline_of([user(), *group("a"), user()], COUNTER)

    assert outline.group_of(1) == outline.group_of(2) == range(1, 3)
    assert outline.group_of(3) == range(3, 4)


def test_the_call_at_the_end_is_open_until_somebody_speaks():
    running = [user(), assistant("", calls=["a", "b"]), result("a")]

    assert outline_of(running, COUNTER).open_call_at_end() == 1
    assert outline_of([*running, user()], COUNTER).open_call_at_end() is None
    assert outline_of([*running, result("b")], COUNTER).open_call_at_end() is None


def test_anchors_are_the_newest_request_and_the_newest_words():
    messages = [user(), assistant("words"), user("newest"), *group("a")]
    outline = outline_of(messages, COUNTER)

    assert outline.newest_user == 2
    assert outline.newest_text == 1


def test_a_summary_is_no_anchor_whatever_its_role():
    summary = user("summary").evolve(kind=Kind.SUMMARY)
    outline = outline_of([user("first"), summary], COUNTER)

    assert outline.newest_user == 0
    assert outline.newest_summary == 1


def test_equal_texts_have_equal_digests_even_broken_ones():
    assert digest_of("a\ud800") == digest_of("a\ud800")
    assert digest_of("a") != digest_of("b")


def test_only_long_results_save_tokens():
    outline = outline_of(
        [*group("a", "x" * 2_000), *group("b", "short")], RoughCounter()
    )

    assert outline[1].saving > 400
    assert outline[3].saving == 0
    assert outline.prunable_between(0, 4) == 1
    assert outline.saved_between(0, 4) == outline[1].saving


def test_the_articles_count_is_chars_over_four_and_ten():
    outline = outline_of(
        [user("a" * 400), assistant("", calls=[call("c", text="b" * 80)])],
        RoughCounter(),
    )
    counted = recount(outline, HERMES)

    assert counted[0].tokens == 110
    assert counted[1].tokens == 10 + outline[1].args_chars // 4


def test_the_default_keeps_the_counts_as_measured():
    outline = outline_of([user()], RoughCounter())

    assert recount(outline, DEFAULT) is outline


def test_a_higher_limit_leaves_shorter_results_alone():
    outline = outline_of(group("a", "x" * 2_000), RoughCounter())

    counted = recount(outline, DEFAULT.evolve(prune_min_chars=5_000))

    assert counted[1].saving == 0


def test_appending_one_by_one_is_the_same_as_all_at_once():
    messages = [user(), *group("a"), assistant("", calls=["b"]), user(), result("b")]
    grown = Outline()
    for message in messages:
        grown.append(facts_of(message, COUNTER))

    assert list(grown.cuts) == cuts(messages)
