"""The plan of a session at this moment: the one that pages show and runs apply."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.engine.outline import Outline
from compaction.engine.plan import Plan
from compaction.engine.planning import plan_outline
from compaction.engine.policy import CompactionPolicy
from compaction.engine.triggers import Trigger
from compaction.models import Session
from compaction.store.messages import load_outline
from compaction.store.situations import situation_of
from compaction.store.summaries import summary_in_force


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan with the numbers it was made from; `revision` is the session's."""

    plan: Plan
    outline: Outline
    revision: int


def plan_session(
    session: Session,
    policy: CompactionPolicy,
    *,
    trigger: Trigger = Trigger.MANUAL,
    focus: str = "",
    summariser_window: int,
) -> Planned:
    """Plan a run from stored numbers alone; reads only, and never a body.

    `summariser_window` is `wiring.summariser_window()`, in tokens. Its digest equals
    that of the run that applies it, as long as nothing changed in between.
    """
    situation = situation_of(
        session,
        trigger,
        focus=focus,
        previous=summary_in_force(session),
        summariser_window=summariser_window,
    )
    outline = load_outline(session)
    return Planned(
        plan=plan_outline(outline, policy, situation=situation),
        outline=outline,
        revision=session.revision,
    )
