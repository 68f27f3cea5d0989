"""Policies side by side, and what holds for one conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from compaction import wiring
from compaction.engine.effective import Layer, lay_over
from compaction.engine.policy import CompactionPolicy, PolicyError
from compaction.engine.presets import DEFAULT, PRESETS
from compaction.models import PolicyProfile, Session
from compaction.store import plan_session


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One policy of the comparison; `profile` is None for a preset.

    `fault` says why a stored profile no longer works; then `policy` is its preset.
    """

    name: str
    policy: CompactionPolicy
    profile: PolicyProfile | None = None
    followers: int = 0
    fault: str = ""


def policy_columns() -> tuple[Column, ...]:
    """Return the presets, the default first, and every profile; one query."""
    presets = [Column(name=name, policy=policy) for name, policy in PRESETS.items()]
    return (*presets, *(_column(profile) for profile in list_profiles()))


def list_profiles() -> Sequence[PolicyProfile]:
    """Return the profiles by name, with how many conversations follow each."""
    rows = PolicyProfile.objects.annotate(followers=Count("conversation"))
    return tuple(rows.order_by("name"))


def find_profile(name: str) -> PolicyProfile | None:
    """Return a profile, or None."""
    return PolicyProfile.objects.filter(name=name).first()


def preset_below(name: str) -> CompactionPolicy:
    """Return the preset of a profile; the default for a name that is gone."""
    return PRESETS.get(name, DEFAULT)


def _column(profile: PolicyProfile) -> Column:
    preset = preset_below(profile.preset)
    layer = Layer(source="profile", values=profile.overrides)
    fault = ""
    policy = preset
    try:
        policy = lay_over(preset, [layer]).policy
    except PolicyError as error:
        fault = f"{error.field}: {error.reason}"
    return Column(
        name=profile.name,
        policy=policy,
        profile=profile,
        followers=getattr(profile, "followers", 0),
        fault=fault,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How a policy fits a session, in tokens of the whole request."""

    threshold: int
    floor: int
    now: int

    @property
    def is_below_floor(self) -> bool:
        """True when no run could get below the threshold."""
        return self.threshold < self.floor


def room_in(session: Session, policy: CompactionPolicy) -> Room:
    """Measure a policy against a session; numbers only, writes nothing."""
    window = wiring.summariser_window()
    plan = plan_session(session, policy, summariser_window=window).plan
    return Room(threshold=plan.threshold, floor=plan.floor, now=plan.request_tokens)
