"""A plan: what a run would do, decided from numbers alone, free and repeatable."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum

from compaction.engine.policy import CompactionPolicy
from compaction.engine.policy_values import policy_to_dict
from compaction.engine.triggers import Trigger


class Verdict(StrEnum):
    """What a plan leads to."""

    SUMMARISE = "summarise"
    PRUNE = "prune"
    NOOP = "noop"
    STUCK = "stuck"
    DEFERRED = "deferred"


class Why(StrEnum):
    """The reason of a verdict, as a code for the templates."""

    BELOW_THRESHOLD = "below_threshold"
    MESSAGE_GATE = "message_gate"
    NOTHING_TO_COMPACT = "nothing_to_compact"
    PROTECTED_PARTS_TOO_LARGE = "protected_parts_too_large"
    OPEN_CALL = "open_call"
    PRUNING_IS_ENOUGH = "pruning_is_enough"
    ONLY_PRUNING_HELPS = "only_pruning_helps"
    OVER_THRESHOLD = "over_threshold"
    REQUESTED = "requested"
    PROVIDER_REFUSED = "provider_refused"
    EMPTY = "empty"


class OpenCalls(StrEnum):
    """What to do about a call that is still open at the end (hermes#79278)."""

    WAIT = "wait"  # a live agent will answer it: the run is deferred
    LEAVE = "leave"  # nobody will: the group stays in the tail as it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a plan depends on beside messages and policy.

    `fixed_tokens` are sent beside the messages (system prompt kept apart, tool
    schemas, TaskState); `compactions` counts earlier ones of the conversation;
    `summariser_window` is the summariser's own window in tokens; `task` is the rendered
    TaskState: what stands there is not lost.
    """

    trigger: Trigger = Trigger.MANUAL
    compactions: int = 0
    previous_summary: str = ""
    fixed_tokens: int = 0
    focus: str = ""
    open_calls: OpenCalls = OpenCalls.WAIT
    summariser_window: int = 200_000
    task: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Where a conversation is cut: messages 0 … head_end-1 are the head, messages
    tail_start … the tail; `kept` lie between and stay word for word.

    `prune_before` is the position before which old output may be shortened.
    """

    head_end: int
    tail_start: int
    kept: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    prune_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Tokens and messages of the parts; `*_saved` is what shortening frees there."""

    messages: int = 0
    total: int = 0
    head: int = 0
    kept: int = 0
    middle: int = 0
    tail: int = 0
    middle_count: int = 0
    middle_saved: int = 0
    stays_saved: int = 0
    all_saved: int = 0
    prunable: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run would do; `tokens_after` is a projection until it has run."""

    policy: CompactionPolicy
    situation: Situation
    verdict: Verdict
    reason: Why
    split: Split
    sizes: Sizes
    summary_budget: int = 0
    tokens_after: int = 0

    @property
    def tokens_before(self) -> int:
        """Tokens of the messages before the run."""
        return self.sizes.total

    @property
    def request_tokens(self) -> int:
        """Tokens of the whole request: messages and what is sent beside them."""
        return self.sizes.total + self.situation.fixed_tokens

    @property
    def threshold(self) -> int:
        """Tokens of the whole request at which a run is due."""
        return self.policy.threshold_tokens

    @property
    def floor(self) -> int:
        """Lowest threshold that can work here, in tokens of the whole request.

        Below what stays anyway plus a minimal summary every run would be followed by
        the next (four runs in one turn were measured in the real Hermes).
        """
        stays = self.sizes.head + self.sizes.kept + self.sizes.tail
        minimum = min(self.policy.summary_min, self.policy.summary_cap)
        return stays - self.sizes.stays_saved + minimum + self.situation.fixed_tokens

    @property
    def changes(self) -> bool:
        """True when the run would change the conversation."""
        return self.verdict in (Verdict.SUMMARISE, Verdict.PRUNE)

    @property
    def digest(self) -> str:
        """A hash over all that decides; equal plans do the same."""
        parts = [
            policy_to_dict(self.policy),
            [str(getattr(self.situation, n)) for n in Situation.__slots__],
            [str(self.verdict), str(self.reason), self.summary_budget],
            [str(getattr(self.split, name)) for name in Split.__slots__],
            [getattr(self.sizes, name) for name in Sizes.__slots__],
        ]
        raw = json.dumps(parts, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(raw.encode()).hexdigest()


class Outcome(StrEnum):
    """What came of a run (DESIGN §2)."""

    SUMMARISED = "summarised"
    PRUNED = "pruned"
    NOOP = "noop"
    STUCK = "stuck"
    ABORTED = "aborted"
    DEFERRED = "deferred"
    COOLDOWN = "cooldown"
