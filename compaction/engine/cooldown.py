"""How long no automatic summary call is made after one failed: the ladder.

A summariser that is down must not be asked at every turn (hermes#11559), and the longer
it is down, the longer the wait (hermes#107516). A success takes the ladder away: the
caller counts failures from 1 again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from compaction.engine.recovery.reasons import Reason

LADDER = (60.0, 300.0, 900.0)
"""Seconds after the first, the second, and every further failure in a row."""

BROKEN_ANSWER = 30.0
NO_PROVIDER = 600.0
LONGEST = 3_600.0
"""A Retry-After may ask for more; an operator could not tell that from a hang."""

_FLAT: Mapping[Reason, float] = {
    Reason.BROKEN_RESPONSE: BROKEN_ANSWER,
    Reason.CUT_STREAM: BROKEN_ANSWER,
    Reason.NO_PROVIDER: NO_PROVIDER,
}
"""Reasons whose wait does not grow: garbage comes and goes, a setting stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooldown:
    """A wait: `seconds` long, over at `until`; `rung` counts from 1.

    `asked` is True when the provider asked for a longer wait than the ladder has.
    """

    until: datetime
    seconds: float
    rung: int
    reason: Reason
    asked: bool = False


def next_cooldown(
    reason: Reason, failures: int, *, now: datetime, retry_after: float | None = None
) -> Cooldown:
    """Return the wait after the `failures`-th failure in a row (the first is 1)."""
    own = _seconds_of(reason, failures)
    seconds = cooldown_after(reason, failures, retry_after=retry_after)
    return Cooldown(
        until=now + timedelta(seconds=seconds),
        seconds=seconds,
        rung=rung_of(failures),
        reason=reason,
        asked=seconds > own,
    )


def cooldown_after(
    reason: Reason, failures: int, *, retry_after: float | None = None
) -> float:
    """Return the seconds to wait; a longer Retry-After wins, up to an hour."""
    own = _seconds_of(reason, failures)
    asked = retry_after if retry_after is not None and retry_after > 0 else 0.0
    return max(own, min(asked, LONGEST))


def rung_of(failures: int) -> int:
    """Return the rung of the ladder, counted from 1, that a failure stands on."""
    return max(1, min(failures, len(LADDER)))


def _seconds_of(reason: Reason, failures: int) -> float:
    return _FLAT.get(reason, LADDER[rung_of(failures) - 1])
