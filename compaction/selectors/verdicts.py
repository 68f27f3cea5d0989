"""Where a session stands, as one code: the worst thing that is true of it."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.engine.plan import Plan, Verdict
from compaction.models import Run, Session
from compaction.selectors.context import SessionHeader
from compaction.selectors.plans import Picture
from compaction.selectors.window import Window

NEAR = 0.8
"""Share of the threshold from which on a run is due soon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A verdict on a session; tokens.

    `code` is empty, stuck, cooldown, failed, over, near or fine; `over` how far
    over the threshold (negative: below), `stays` what no run can take away.
    """

    code: str
    tone: str
    over: int
    stays: int

    @property
    def left(self) -> int:
        """Tokens until the threshold is reached."""
        return max(0, -self.over)


_TONES = {
    "empty": "off",
    "stuck": "bad",
    "cooldown": "warn",
    "failed": "bad",
    "over": "warn",
    "near": "info",
    "fine": "ok",
}


def standing_of(
    header: SessionHeader, picture: Picture, window: Window, last_run: Run | None
) -> Standing:
    """Judge a living session by its rows, its plan and its newest run that ended."""
    over = window.tokens - picture.plan.threshold
    code = _code(header, picture, last_run, over=over)
    return Standing(code=code, tone=_TONES[code], over=over, stays=picture.plan.floor)


def _code(
    header: SessionHeader, picture: Picture, last_run: Run | None, *, over: int
) -> str:
    checks = (
        (not len(picture), "empty"),
        (over >= 0 and _is_stuck(header, picture.plan), "stuck"),
        (header.cooldown is not None, "cooldown"),
        (_has_failed(last_run, header.session), "failed"),
        (over >= 0, "over"),
        (over >= (NEAR - 1) * picture.plan.threshold, "near"),
    )
    return next((code for is_true, code in checks if is_true), "fine")


def _is_stuck(header: SessionHeader, plan: Plan) -> bool:
    return plan.verdict is Verdict.STUCK or header.conversation.state == "stuck"


def _has_failed(run: Run | None, session: Session) -> bool:
    """True when the newest run was of the session as it is now, and it failed."""
    if run is None or run.session_revision != session.revision:
        return False
    return run.status == Run.Status.FAILED or run.outcome == Run.Outcome.ABORTED
