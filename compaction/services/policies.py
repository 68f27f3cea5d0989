"""The policy of one conversation: what it follows and which values are its own.

Every change is checked by the engine before it is stored; a threshold that no run
could get below is refused with the floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from compaction import wiring
from compaction.engine.effective import check_floor
from compaction.engine.plan import Plan
from compaction.engine.policy import CompactionPolicy, PolicyError
from compaction.engine.policy_values import policy_to_dict, read_overrides
from compaction.engine.presets import PRESETS
from compaction.models import Conversation, PolicyProfile
from compaction.services.audit import Change, record_action
from compaction.services.conversations import refresh_conversation
from compaction.store import plan_session
from compaction.store.policies import (
    PRESET_KEY,
    PolicyInForce,
    policy_for,
    policy_in_force,
)

__all__ = [
    "PolicyChoice",
    "PolicyInForce",
    "check_policy",
    "clear_policy",
    "policy_for",
    "policy_in_force",
    "set_policy",
]

# What the conversation itself sets; a profile cannot know it.
_OF_THE_CONVERSATION = frozenset({"name", "context_length"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChoice:
    """What one conversation is to follow: a profile or a preset, and own values."""

    profile: PolicyProfile | None = None
    preset: str = "default"
    values: Mapping[str, Any] = field(default_factory=dict)


def set_policy(
    conversation: Conversation,
    choice: PolicyChoice,
    *,
    operator: User | None,
    reason: str = "",
) -> PolicyInForce:
    """Set what one conversation follows; raises PolicyError, then nothing changed."""
    before = _choice_to_json(conversation)
    present = policy_for(conversation).policy
    candidate = copy(conversation)
    candidate.profile, candidate.policy_overrides = choice.profile, _own(choice)
    in_force = check_policy(candidate, present=present)
    with transaction.atomic():
        conversation.profile = choice.profile
        conversation.policy_overrides = candidate.policy_overrides
        conversation.save(update_fields=["profile", "policy_overrides"])
        refresh_conversation(conversation)
        after = _choice_to_json(conversation)
        if after != before:
            change = Change(reason=reason, before=before, after=after)
            record_action(operator, "set_policy", conversation, change=change)
    return in_force


def clear_policy(
    conversation: Conversation, *, operator: User | None, reason: str = ""
) -> PolicyInForce:
    """Let a conversation follow the default again."""
    return set_policy(conversation, PolicyChoice(), operator=operator, reason=reason)


def _own(choice: PolicyChoice) -> dict[str, Any]:
    values = to_stored(choice.values)
    if choice.profile is None and choice.preset != "default":
        values[PRESET_KEY] = preset_named(choice.preset).name
    return values


def check_policy(
    conversation: Conversation,
    values: Mapping[str, Any] | None = None,
    *,
    present: CompactionPolicy | None = None,
) -> PolicyInForce:
    """Return the policy with `values` on top; raises PolicyError when it cannot work.

    A threshold below the floor is refused, unless it is not lower than that of the
    `present` policy: a conversation that is stuck already may still be steered.
    """
    in_force = policy_for(conversation, values)
    if in_force.faults:
        fault = in_force.faults[0]
        raise PolicyError(fault.field, fault.reason)
    if conversation.tip is not None:
        plan = _plan(conversation, in_force.policy)
        present = present or policy_for(conversation).policy
        if plan.threshold < present.threshold_tokens:
            check_floor(plan)
    return in_force


def _plan(conversation: Conversation, policy: CompactionPolicy) -> Plan:
    tip = copy(conversation.tip)
    assert tip is not None
    tip.conversation = conversation
    window = wiring.summariser_window()
    return plan_session(tip, policy, summariser_window=window).plan


def _choice_to_json(conversation: Conversation) -> dict[str, Any]:
    return {
        "profile": conversation.profile.name if conversation.profile else None,
        "values": conversation.policy_overrides,
        "policy": policy_to_dict(policy_for(conversation).policy),
    }


def preset_named(name: str) -> CompactionPolicy:
    """Return a preset; raises PolicyError when there is none of this name."""
    if name not in PRESETS:
        raise PolicyError(PRESET_KEY, f"there is no preset {name!r}")
    return PRESETS[name]


def to_stored(values: Mapping[str, Any]) -> dict[str, Any]:
    """Read loose values and write them as JSON keeps them; raises PolicyError."""
    for name in values:
        if name in _OF_THE_CONVERSATION:
            raise PolicyError(name, "is a fact of the conversation")
    read = read_overrides(values)
    return {name: getattr(value, "value", value) for name, value in read.items()}
