"""All the numbers of a compaction, frozen and validated.

Tokens unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class CountRule(StrEnum):
    """Which estimate a policy asks for when no provider usage is known."""

    TOKENIZER = "tokenizer"
    CHARS_OVER_4 = "chars_over_4"


class CutRule(StrEnum):
    """Where a cut may fall."""

    SAFE = "safe"
    ALIGN_TOOL = "align_tool"
    ALIGN_ASSISTANT = "align_assistant"


class PruneRule(StrEnum):
    """Which old tool results may be shortened."""

    BEFORE_TAIL = "before_tail"
    BY_BUDGET = "by_budget"
    ALL_BUT_NEWEST = "all_but_newest"


class PruneForm(StrEnum):
    """What stands in the place of a shortened tool result."""

    FACT = "fact"
    PLACEHOLDER = "placeholder"


class SummaryRole(StrEnum):
    """How the role of the summary message is chosen."""

    ASSISTANT = "assistant"
    ALTERNATE = "alternate"


class OnFailure(StrEnum):
    """What happens to the middle when its summary failed."""

    ABORT = "abort"
    PLACEHOLDER = "placeholder"
    ERROR_TEXT = "error_text"


class OnLoss(StrEnum):
    """What happens when a model's summary loses a live constraint or an open todo."""

    APPEND = "append"
    RETRY = "retry"
    WARN = "warn"


class Template(StrEnum):
    """Which headings the summary has."""

    HERMES = "hermes"
    TUTORIAL = "tutorial"


class PolicyError(ValueError):
    """A policy that cannot work; `field` names the value to change."""

    def __init__(self, field: str, reason: str, *, floor: int | None = None) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason
        self.floor = floor  # tokens, when the value is below what can work here


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPolicy:
    """The numbers and rules of one compaction (DESIGN §4)."""

    name: str = "default"
    # when
    context_length: int = 200_000
    reserved_output: int = 0
    threshold_ratio: float = 0.50
    threshold_cap: int | None = None
    message_gate: int | None = None  # a run needs more messages than this
    count_rule: CountRule = CountRule.TOKENIZER
    image_tokens: int = 1_500
    # head
    protect_first: int = 3
    protect_first_counts_system: bool = False
    protect_first_after: int = 0  # the same, from the second compaction on
    # tail
    tail_ratio: float = 0.20
    tail_tokens: int | None = None  # absolute, wins over tail_ratio
    tail_ceiling: float = 1.5
    min_tail: int = 3  # messages
    anchor_newest: bool = True
    # cuts
    cut_rule: CutRule = CutRule.SAFE
    # prune
    prune_rule: PruneRule = PruneRule.BEFORE_TAIL
    prune_form: PruneForm = PruneForm.FACT
    prune_min_chars: int = 200
    prune_keep_newest: int = 3  # results, for ALL_BUT_NEWEST
    prune_args_chars: int = 500  # 0: arguments are left alone
    prune_enough: float | None = 0.30  # of the threshold; None: always summarise
    # transcript
    clip_over_chars: int = 6_000
    clip_head_chars: int = 4_000
    clip_tail_chars: int = 1_500
    args_over_chars: int = 1_500
    args_head_chars: int = 1_200
    clip_every_role: bool = True
    list_evidence: bool = True  # beside a transcript about as long as a pruned middle
    # summary
    template: Template = Template.HERMES
    summary_ratio: float = 0.20
    summary_min: int = 2_000
    summary_max: int = 12_000
    summary_window_ratio: float | None = 0.05
    summary_role: SummaryRole = SummaryRole.ASSISTANT
    system_note: bool = True
    on_failure: OnFailure = OnFailure.ABORT
    # evidence
    pin_constraints: bool = True
    on_loss: OnLoss = OnLoss.APPEND
    # must shrink
    min_shrink: float | None = 0.90
    memory_flush: bool = True  # the agent may write its memory before a run
    # repeated
    warn_from: int = 2
    loop_runs: int = 3
    loop_turns: int = 6  # answers of the model
    loop_alike: float = 0.90  # summaries this equal, no user between
    loop_rereads: int = 3  # things read again after one run

    def __post_init__(self) -> None:
        """Refuse values that cannot work, with the field's name."""
        for name, ok, reason in self._checks():
            if not ok:
                raise PolicyError(name, reason)

    def _checks(self) -> list[tuple[str, bool, str]]:
        return [
            ("context_length", self.context_length >= 1_000, "at least 1,000 tokens"),
            ("reserved_output", self.reserved_output >= 0, "not negative"),
            (
                "reserved_output",
                self.reserved_output < self.context_length,
                "must leave room in the window",
            ),
            ("threshold_ratio", 0 < self.threshold_ratio <= 1, "between 0 and 1"),
            (
                "threshold_cap",
                self.threshold_cap is None or self.threshold_cap >= 100,
                "at least 100 tokens",
            ),
            ("protect_first", self.protect_first >= 0, "not negative"),
            ("protect_first_after", self.protect_first_after >= 0, "not negative"),
            ("tail_ratio", 0 < self.tail_ratio < 1, "between 0 and 1"),
            (
                "tail_tokens",
                self.tail_tokens is None or self.tail_tokens >= 1,
                "at least 1 token",
            ),
            ("tail_ceiling", self.tail_ceiling >= 1, "at least 1"),
            ("min_tail", self.min_tail >= 0, "not negative"),
            ("prune_min_chars", self.prune_min_chars >= 1, "at least 1 character"),
            (
                "prune_enough",
                self.prune_enough is None or 0 < self.prune_enough <= 1,
                "between 0 and 1, or empty",
            ),
            (
                "clip_over_chars",
                self.clip_head_chars + self.clip_tail_chars <= self.clip_over_chars,
                "must hold the kept head and tail",
            ),
            (
                "args_over_chars",
                self.args_head_chars <= self.args_over_chars,
                "must hold the kept head",
            ),
            ("summary_ratio", 0 < self.summary_ratio < 1, "between 0 and 1"),
            (
                "summary_min",
                0 < self.summary_min <= self.summary_max,
                "above 0 and not above summary_max",
            ),
            (
                "loop_alike",
                0 < self.loop_alike <= 1,
                "between 0 and 1",
            ),
            ("loop_rereads", self.loop_rereads >= 1, "at least 1"),
            (
                "min_shrink",
                self.min_shrink is None or 0 < self.min_shrink <= 1,
                "between 0 and 1, or empty",
            ),
        ]

    @property
    def threshold_tokens(self) -> int:
        """Tokens at which a run is due: ratio or cap, the lower wins."""
        usable = self.context_length - self.reserved_output
        by_ratio = int(self.threshold_ratio * usable)
        return min(by_ratio, self.threshold_cap or by_ratio)

    @property
    def tail_budget(self) -> int:
        """Tokens of recent messages that stay (article 000: 0.20 × threshold)."""
        if self.tail_tokens is not None:
            return self.tail_tokens
        return max(1, int(self.tail_ratio * self.threshold_tokens))

    @property
    def summary_cap(self) -> int:
        """Most tokens a summary may have."""
        if self.summary_window_ratio is None:
            return self.summary_max
        share = int(self.summary_window_ratio * self.context_length)
        return max(200, min(self.summary_max, share))

    def summary_budget(self, middle_tokens: int) -> int:
        """Tokens the summary of a middle of this size may have (article 000)."""
        wanted = int(middle_tokens * self.summary_ratio)
        return min(self.summary_cap, max(self.summary_min, wanted))

    def evolve(self, **changes: Any) -> CompactionPolicy:
        """Return a copy with some values changed; raises PolicyError."""
        return replace(self, **changes)
