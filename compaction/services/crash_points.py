"""Named points at which a test may kill a worker as a crash would.

Only points that cannot be hit from outside are named. Without the variable, or with
another name in it, `reach` does nothing. `name:3` kills at the third time.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

BEFORE_CLAIM = "before_claim"
AFTER_CLAIM = "after_claim"
BEFORE_COMMIT = "before_commit"
AFTER_COMMIT = "after_commit"
# of a turn
BEFORE_TURN_CLAIM = "before_turn_claim"
AFTER_TURN_CLAIM = "after_turn_claim"
BEFORE_ANSWER = "before_answer"
AFTER_ANSWER = "after_answer"
AFTER_BEGIN_CALL = "after_begin_call"
BEFORE_RESULT = "before_result"
AFTER_RESULT = "after_result"
BEFORE_TURN_RUN = "before_turn_run"
AFTER_TURN_RUN = "after_turn_run"
BEFORE_TURN_END = "before_turn_end"
AFTER_TURN_END = "after_turn_end"

_WANTED, _, _TIME = os.environ.get("HERMES_WEB_CRASH_POINT", "").partition(":")
_reached: Counter[str] = Counter()


def reach(point: str) -> None:
    """Kill this process with SIGKILL when the environment asks for it here."""
    if point != _WANTED:
        return
    _reached[point] += 1
    if _reached[point] == int(_TIME or 1):
        os.kill(os.getpid(), signal.SIGKILL)
