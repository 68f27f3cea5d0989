"""Profiles: named policies for many conversations, changed without overwriting.

Conversations that follow a profile are brought up to date with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from compaction.engine.effective import Layer, lay_over
from compaction.engine.policy import PolicyError
from compaction.engine.presets import PRESETS
from compaction.models import Conversation, PolicyProfile
from compaction.services.audit import Change, record_action
from compaction.services.conversations import (
    refresh_conversation,
    refresh_conversations,
)
from compaction.services.policies import preset_named, to_stored
from compaction.store import readable


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
    preset = preset_named(draft.preset)
    overrides = to_stored(draft.overrides)
    lay_over(preset, [Layer(source="profile", values=overrides)])
    return overrides


def _profile_to_json(profile: PolicyProfile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "preset": profile.preset,
        "overrides": profile.overrides,
        "note": profile.note,
        "version": profile.version,
    }
