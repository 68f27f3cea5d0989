"""What the newest test of an endpoint found, kept beside it as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a test found; `latency` in seconds, the rest empty where it was well.

    `reason` is a Reason of the recovery table, `kind` how the call failed, `code`
    what the provider calls it, `message` its words, redacted.
    """

    at: str
    latency: float
    model: str = ""
    kind: str = ""
    reason: str = ""
    status: int | None = None
    code: str = ""
    message: str = ""

    @property
    def succeeded(self) -> bool:
        """True when the endpoint answered."""
        return not self.kind

    @property
    def moment(self) -> datetime:
        """When it was."""
        return datetime.fromisoformat(self.at)


def trial_of(raw: Mapping[str, Any]) -> Trial | None:
    """Read a kept test, None when there was none."""
    known = {field.name for field in fields(Trial)} & raw.keys()
    return Trial(**{name: raw[name] for name in known}) if raw else None
