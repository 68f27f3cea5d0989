"""Policies as plain values: written for JSON, read from forms and command lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any

from compaction.engine.policy import (
    CompactionPolicy,
    CountRule,
    CutRule,
    OnFailure,
    OnLoss,
    PolicyError,
    PruneForm,
    PruneRule,
    SummaryRole,
    Template,
)
from compaction.engine.presets import DEFAULT


def policy_to_dict(policy: CompactionPolicy) -> dict[str, Any]:
    """Write a policy as JSON-safe values."""
    return {
        key: value.value if isinstance(value, StrEnum) else value
        for key, value in asdict(policy).items()
    }


def policy_from_dict(raw: Mapping[str, Any]) -> CompactionPolicy:
    """Read a policy; unknown names and wrong values raise PolicyError."""
    return DEFAULT.evolve(**read_overrides(raw))


def read_overrides(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Turn names and loose values (also strings) into field values of a policy."""
    return {name: _read_field(name, value) for name, value in raw.items()}


_TYPES: Mapping[str, str] = {f.name: str(f.type) for f in fields(CompactionPolicy)}
_ENUMS: Mapping[str, type[StrEnum]] = {
    enum.__name__: enum
    for enum in (
        CountRule,
        CutRule,
        PruneRule,
        PruneForm,
        SummaryRole,
        OnFailure,
        OnLoss,
        Template,
    )
}


def _read_field(name: str, value: Any) -> Any:
    kind = _TYPES.get(name)
    if kind is None:
        raise PolicyError(name, "no policy has a value of this name")
    try:
        return _convert(kind, value)
    except (KeyError, TypeError, ValueError):
        raise PolicyError(name, f"cannot be {value!r}") from None


def _convert(kind: str, value: Any) -> Any:
    if value in (None, "", "none") and kind.endswith("| None"):
        return None
    base = kind.removesuffix(" | None")
    if base in _ENUMS:
        return _ENUMS[base](value)
    if base == "bool":
        return _read_bool(value)
    if base == "int":
        return int(str(value).replace(",", "").replace("_", ""))
    return float(value) if base == "float" else str(value)


def _read_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    truth = {"true": True, "yes": True, "1": True, "on": True}
    lies = {"false": False, "no": False, "0": False, "off": False, "": False}
    return (truth | lies)[str(value).lower()]
