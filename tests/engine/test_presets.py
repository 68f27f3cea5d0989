"""The policies that come with the console say what the articles say."""

from __future__ import annotations

import pytest

from compaction.engine.presets import HERMES, TUTORIAL


@pytest.mark.parametrize(
    ("middle", "budget"), [(1_000, 2_000), (40_000, 8_000), (80_000, 12_000)]
)
def test_article_000s_budget_is_a_fifth_within_bounds(middle, budget):
    assert HERMES.summary_budget(middle) == budget


def test_the_presets_differ_where_the_articles_do():
    assert (HERMES.min_shrink, TUTORIAL.min_shrink) == (None, 0.9)
    assert (HERMES.threshold_tokens, TUTORIAL.threshold_tokens) == (100_000, 50_000)
