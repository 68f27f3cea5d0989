"""Changes of policies: profiles for many conversations, values for one.

Every change is checked by the engine before it is stored; a threshold that no run
could get below is refused with the floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from compaction import wiring
from compaction.engine.effective import Layer, check_floor, lay_over
from compaction.engine.plan import Plan
from compaction.engine.policy import (
    PRESETS,
    CompactionPolicy,
    PolicyError,
    policy_to_dict,
    read_overrides,
)
from compaction.models import Conversation, PolicyProfile
from compaction.services.audit import Change, record_action
from compaction.services.conversations import (
    refresh_conversation,
    refresh_conversations,
)
from compaction.store import plan_session, readable
from compaction.store.policies import (
    PRESET_KEY,
    PolicyInForce,
    policy_for,
    policy_in_force,
)

__all__ = [
    "PolicyInForce",
    "ProfileConflict",
    "ProfileDraft",
    "check_policy",
    "clear_policy",
    "delete_profile",
    "policy_for",
    "policy_in_force",
    "save_profile",
    "set_policy",
]

# What the conversation itself sets; a profile cannot know it.
_OF_THE_CONVERSATION = frozenset({"name", "context_length"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileDraft:
    """A profile as an operator wants it.

    `base_version` is the version that stood on the page, None for a new profile.
    """

    name: str
    preset: str = "default"
    overrides: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    base_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileConflict:
    """Somebody else changed, made or removed the profile; nothing was written."""

    theirs: PolicyProfile | None


def save_profile(
    draft: ProfileDraft, *, operator: User | None, profile: PolicyProfile | None = None
) -> PolicyProfile | ProfileConflict:
    """Make a profile, or change `profile`; raises PolicyError for what cannot work.

    Conversations that follow it are brought up to date in the same transaction.
    """
    overrides = _checked(draft)
    with transaction.atomic():
        if profile is None:
            return _create_profile(draft, overrides, operator)
        return _change_profile(profile, draft, overrides, operator=operator)


def _create_profile(
    draft: ProfileDraft, overrides: dict[str, Any], operator: User | None
) -> PolicyProfile | ProfileConflict:
    try:
        with transaction.atomic():
            made = PolicyProfile.objects.create(**_columns(draft, overrides))
    except IntegrityError:
        theirs = PolicyProfile.objects.filter(name=draft.name).first()
        return ProfileConflict(theirs=theirs)
    change = Change(target=f"profile:{made.name}", after=_profile_to_json(made))
    record_action(operator, "create_profile", change=change)
    return made


def _change_profile(
    profile: PolicyProfile,
    draft: ProfileDraft,
    overrides: dict[str, Any],
    *,
    operator: User | None,
) -> PolicyProfile | ProfileConflict:
    rows = PolicyProfile.objects.select_for_update().filter(pk=profile.pk)
    row = rows.first()
    if row is None or row.version != draft.base_version:
        return ProfileConflict(theirs=row)
    before = _profile_to_json(row)
    for name, value in _columns(draft, overrides).items():
        setattr(row, name, value)
    row.version += 1
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        namesake = PolicyProfile.objects.filter(name=draft.name).first()
        return ProfileConflict(theirs=namesake)
    change = Change(
        target=f"profile:{row.name}", before=before, after=_profile_to_json(row)
    )
    record_action(operator, "change_profile", change=change)
    refresh_conversations(_followers(row))
    return row


def delete_profile(profile: PolicyProfile, *, operator: User | None) -> int:
    """Remove a profile; return how many conversations fell back to the default."""
    with transaction.atomic():
        followers = list(_followers(profile))
        change = Change(
            target=f"profile:{profile.name}", before=_profile_to_json(profile)
        )
        record_action(operator, "delete_profile", change=change)
        profile.delete()
        for conversation in followers:
            conversation.profile = None
            refresh_conversation(conversation)
    return len(followers)


def _followers(profile: PolicyProfile) -> list[Conversation]:
    found = Conversation.objects.filter(profile=profile)
    return list(found.select_related("tip", "profile"))


def _columns(draft: ProfileDraft, overrides: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": draft.name,
        "preset": draft.preset,
        "overrides": overrides,
        "note": readable(draft.note),
    }


def _checked(draft: ProfileDraft) -> dict[str, Any]:
    """Return the overrides as they are stored; raises PolicyError."""
    if not draft.name or draft.name != slugify(draft.name) or len(draft.name) > 64:
        raise PolicyError("name", "small letters, digits and hyphens, at most 64")
    if draft.name in PRESETS:
        raise PolicyError("name", "is the name of a preset")
    preset = _preset(draft.preset)
    overrides = to_stored(draft.overrides)
    lay_over(preset, [Layer(source="profile", values=overrides)])
    return overrides


def _preset(name: str) -> CompactionPolicy:
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


def _profile_to_json(profile: PolicyProfile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "preset": profile.preset,
        "overrides": profile.overrides,
        "note": profile.note,
        "version": profile.version,
    }


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
        values[PRESET_KEY] = _preset(choice.preset).name
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
