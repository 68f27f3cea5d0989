"""The policy in force: layers laid over each other, and where each value comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.engine.plan import Plan
from compaction.engine.policy import CompactionPolicy, PolicyError
from compaction.engine.policy_values import read_overrides
from compaction.engine.presets import DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Some values and the name of who set them."""

    source: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectivePolicy:
    """A policy and, for each value that is not the preset's, its source."""

    policy: CompactionPolicy
    sources: Mapping[str, str]


def lay_over(preset: CompactionPolicy, layers: Sequence[Layer]) -> EffectivePolicy:
    """Lay layers over a preset, the last one on top; raises PolicyError."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for layer in layers:
        read = read_overrides(layer.values)
        values |= read
        sources |= dict.fromkeys(read, layer.source)
    return EffectivePolicy(policy=preset.evolve(**values), sources=sources)


def differences(
    policy: CompactionPolicy, base: CompactionPolicy = DEFAULT
) -> dict[str, tuple[Any, Any]]:
    """Which values differ from a base: name -> (base value, value)."""
    names = (name for name in CompactionPolicy.__slots__ if name != "name")
    return {
        name: (getattr(base, name), getattr(policy, name))
        for name in names
        if getattr(base, name) != getattr(policy, name)
    }


def check_floor(plan: Plan) -> None:
    """Refuse a threshold that no run could get below; says the floor in tokens."""
    if plan.threshold < plan.floor:
        reason = f"below the floor of {plan.floor:,}"
        raise PolicyError("threshold_ratio", reason, floor=plan.floor)
