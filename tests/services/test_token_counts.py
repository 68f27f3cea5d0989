"""Counting the texts of an import."""

from __future__ import annotations

import pytest

from compaction.engine.tokens import RoughCounter
from compaction.models import TokenCountCache
from compaction.services.token_counts import BatchCounts
from compaction.wiring import get_counter

pytestmark = pytest.mark.django_db

LONG = "aubergines and parsnips " * 400
SHORT = "hello there"


def counted(counts, *batches):
    """Run through the batches and ask for each text while its batch is on."""
    steps = counts.run(batches)
    return [
        [counts.count(t) for t in batch]
        for batch, _ in zip(batches, steps, strict=True)
    ]


def test_the_counts_are_those_of_the_counter_itself():
    counter = get_counter("gpt-4o")
    batches = [[LONG, SHORT], [SHORT, "", "<|endoftext|>", "\ud800"]]

    expected = [[counter.count(text) for text in batch] for batch in batches]
    assert counted(BatchCounts(counter), *batches) == expected


def test_a_text_outside_of_the_batch_is_counted_all_the_same():
    counts = BatchCounts(get_counter("gpt-4o"))

    assert counts.count(LONG) == get_counter("gpt-4o").count(LONG)


def test_long_texts_are_remembered_for_the_next_import():
    counts = BatchCounts(get_counter("gpt-4o"))
    counted(counts, [LONG, SHORT])

    assert counts.save() == 1
    TokenCountCache.objects.update(tokens=7)
    assert counted(BatchCounts(get_counter("gpt-4o")), [LONG]) == [[7]]


def test_another_encoding_does_not_take_over_the_counts():
    counts = BatchCounts(get_counter("gpt-4o"))
    counted(counts, [LONG])
    counts.save()
    TokenCountCache.objects.update(tokens=7)

    assert counted(BatchCounts(get_counter("gpt-4")), [LONG]) != [[7]]


def test_two_imports_that_count_the_same_text_do_not_disturb_each_other():
    one, other = (BatchCounts(get_counter("gpt-4o")) for _ in range(2))
    for counts in (one, other):
        counted(counts, [LONG])

    assert one.save() == other.save() == 1
    assert TokenCountCache.objects.count() == 1


def test_estimates_are_not_remembered():
    counts = BatchCounts(RoughCounter())
    counted(counts, [LONG])

    assert counts.save() == 0
    assert not TokenCountCache.objects.exists()


def test_an_error_while_counting_reaches_the_caller():
    class Broken(RoughCounter):
        def count(self, text):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        counted(BatchCounts(Broken()), [LONG])
