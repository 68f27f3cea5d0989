"""Signals around every compaction, for the code of others.

A receiver gets `starting` or `finished`, a frozen value; `sender` is the class of that
value. The same values go to the dotted paths of BEFORE_COMPACTION and AFTER_COMPACTION.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.dispatch import Signal

from compaction.engine.plan import Plan

compaction_starting = Signal()
compaction_finished = Signal()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionStarting:
    """A run is about to change a session: ids, and the plan that it will apply."""

    run_id: str
    session_id: str
    conversation_id: int
    trigger: str
    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFinished:
    """A run is over; `result_session_id` is '' when the session goes on as it was."""

    run_id: str
    session_id: str
    conversation_id: int
    trigger: str
    plan: Plan
    status: str
    outcome: str
    result_session_id: str
