"""The policy in force for a conversation, and where each of its values comes from.

From below to above: a preset, the conversation's window, its profile, its own values,
and what somebody asks for at this moment. Stored values that no longer work (a window
shrank below a reserve) are left out and reported, never fatal: a page must be able to
show what to repair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compaction.engine.effective import Layer, lay_over
from compaction.engine.policy import CompactionPolicy, PolicyError
from compaction.engine.presets import DEFAULT, PRESETS
from compaction.models import Conversation, PolicyProfile, Session

PRESET_KEY = "preset"
"""In a conversation's own values: the preset it follows when it has no profile."""

_LEAST_WINDOW = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Stored values that cannot be used: whose, which and why."""

    source: str
    field: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyInForce:
    """A policy with its origin.

    `sources` names, for each value that is not the preset's, who set it: `window`,
    `profile`, `conversation` or `request`.
    """

    policy: CompactionPolicy
    preset: str
    profile: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    def source_of(self, name: str) -> str:
        """Return who set a value; `preset` when nobody did."""
        return self.sources.get(name, "preset")


def policy_in_force(
    session: Session, values: Mapping[str, Any] | None = None
) -> PolicyInForce:
    """Return the policy that holds for a session.

    `values` are asked for on top of it; a wrong one raises PolicyError.
    """
    return policy_for(session.conversation, values)


def policy_for(
    conversation: Conversation, values: Mapping[str, Any] | None = None
) -> PolicyInForce:
    """Return the policy that holds for a conversation; `values` as above."""
    preset = preset_of(conversation)
    layers: list[Layer] = []
    faults: list[Fault] = []
    for layer in _stored_layers(conversation):
        fault = _try(preset, [*layers, layer])
        if fault is None:
            layers.append(layer)
        else:
            faults.append(fault)
    if values:
        layers.append(Layer(source="request", values=values))
    effective = lay_over(preset, layers)
    profile = conversation.profile
    return PolicyInForce(
        policy=effective.policy.evolve(name=profile.name if profile else preset.name),
        preset=preset.name,
        profile=profile.name if profile else "",
        sources=effective.sources,
        faults=tuple(faults),
    )


def preset_of(conversation: Conversation) -> CompactionPolicy:
    """Return the preset under a conversation's policy."""
    profile: PolicyProfile | None = conversation.profile
    name = (
        profile.preset if profile else conversation.policy_overrides.get(PRESET_KEY, "")
    )
    return PRESETS.get(str(name), DEFAULT)


def own_values(conversation: Conversation) -> dict[str, Any]:
    """Return the values that are set for this conversation alone."""
    stored = conversation.policy_overrides
    return {name: value for name, value in stored.items() if name != PRESET_KEY}


def _stored_layers(conversation: Conversation) -> list[Layer]:
    window = max(_LEAST_WINDOW, conversation.window)
    profile = conversation.profile
    return [
        Layer(source="window", values={"context_length": window}),
        Layer(source="profile", values=profile.overrides if profile else {}),
        Layer(source="conversation", values=own_values(conversation)),
    ]


def _try(preset: CompactionPolicy, layers: list[Layer]) -> Fault | None:
    try:
        lay_over(preset, layers)
    except PolicyError as error:
        return Fault(source=layers[-1].source, field=error.field, reason=error.reason)
    return None
