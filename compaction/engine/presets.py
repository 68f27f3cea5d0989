"""The three policies that come with the console; they are only data.

`hermes` reproduces article 000, `tutorial` article 003; `default` repairs what the
field has reported as faults.
"""

from __future__ import annotations

from collections.abc import Mapping

from compaction.engine.policy import (
    CompactionPolicy,
    CountRule,
    CutRule,
    OnFailure,
    OnLoss,
    PruneForm,
    PruneRule,
    SummaryRole,
    Template,
)

HERMES = CompactionPolicy(
    name="hermes",
    message_gate=24,  # first 3 + last 20 + 1
    count_rule=CountRule.CHARS_OVER_4,
    protect_first=3,
    protect_first_counts_system=True,
    protect_first_after=3,
    anchor_newest=False,
    cut_rule=CutRule.ALIGN_TOOL,
    prune_rule=PruneRule.BY_BUDGET,
    prune_form=PruneForm.PLACEHOLDER,
    prune_args_chars=0,
    prune_enough=None,
    clip_every_role=False,
    list_evidence=False,
    summary_window_ratio=None,
    summary_role=SummaryRole.ALTERNATE,
    on_failure=OnFailure.PLACEHOLDER,
    pin_constraints=False,
    on_loss=OnLoss.WARN,
    min_shrink=None,
)
"""Article 000: the real Hermes Agent as the article describes it."""

TUTORIAL = CompactionPolicy(
    name="tutorial",
    threshold_ratio=1.0,
    threshold_cap=50_000,
    count_rule=CountRule.CHARS_OVER_4,
    protect_first=3,
    protect_first_counts_system=True,
    protect_first_after=3,
    tail_tokens=20_000,
    tail_ceiling=1.0,
    min_tail=0,
    anchor_newest=False,
    cut_rule=CutRule.ALIGN_ASSISTANT,
    prune_rule=PruneRule.ALL_BUT_NEWEST,
    prune_form=PruneForm.PLACEHOLDER,
    prune_min_chars=27,  # longer than its own placeholder
    prune_args_chars=0,
    clip_over_chars=2_000,
    clip_head_chars=2_000,
    clip_tail_chars=0,
    clip_every_role=True,
    args_over_chars=2_000,
    args_head_chars=2_000,
    list_evidence=False,
    template=Template.TUTORIAL,
    summary_min=3_000,
    summary_max=3_000,
    summary_window_ratio=None,
    system_note=False,
    on_failure=OnFailure.ERROR_TEXT,
    pin_constraints=False,
    on_loss=OnLoss.WARN,
    prune_enough=1.0,
    memory_flush=False,
)
"""Article 003: the teaching repository's three-layer compaction."""

DEFAULT = CompactionPolicy()
"""Ours: the articles' rules with the reported faults repaired (docs/decisions)."""

PRESETS: Mapping[str, CompactionPolicy] = {
    preset.name: preset for preset in (DEFAULT, HERMES, TUTORIAL)
}
