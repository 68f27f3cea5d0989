"""A session planned for a page: policy, situation, picture, estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction import wiring
from compaction.engine.policy_values import policy_from_dict
from compaction.engine.triggers import Trigger
from compaction.models import Run, Session, Summary
from compaction.selectors.estimates import Estimate, Summariser, estimate_run
from compaction.selectors.plans import Picture, picture_of
from compaction.store import situation_of, summary_in_force
from compaction.store.policies import PolicyInForce, policy_in_force


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPage:
    """What a run by an operator would do at this moment; nothing is written.

    `summary` is the one in force, which the run would update.
    """

    in_force: PolicyInForce
    summary: Summary | None
    picture: Picture
    estimate: Estimate


def plan_page(
    session: Session, values: Mapping[str, Any] | None = None, *, focus: str = ""
) -> PlannedPage:
    """Plan a session under its policy with some values changed.

    A wrong value raises PolicyError. The plan is the one that a run queued at this
    moment would apply: their digests are equal.
    """
    in_force = policy_in_force(session, values)
    return _plan(session, in_force, trigger=Trigger.MANUAL, focus=focus)


def plan_of(session: Session, run: Run) -> PlannedPage:
    """Plan a session as a run did: its policy, trigger and focus, its messages."""
    policy = policy_from_dict(run.policy)
    in_force = PolicyInForce(policy=policy, preset=policy.name)
    return _plan(session, in_force, trigger=Trigger(run.trigger), focus=run.focus)


def _plan(
    session: Session, in_force: PolicyInForce, *, trigger: Trigger, focus: str
) -> PlannedPage:
    facts = wiring.describe_summariser()
    summary = summary_in_force(session)
    situation = situation_of(
        session,
        trigger,
        focus=focus,
        previous=summary,
        summariser_window=facts.window,
    )
    picture = picture_of(session, in_force.policy, situation)
    return PlannedPage(
        in_force=in_force,
        summary=summary,
        picture=picture,
        estimate=estimate_run(picture.plan, _summariser(facts)),
    )


def _summariser(facts: wiring.SummariserFacts) -> Summariser:
    """Return who would write the summary, and the prices if they are known."""
    prices = facts.prices
    return Summariser(
        name=facts.name,
        is_embedded=facts.is_embedded,
        input_price=prices.input if prices else None,
        output_price=prices.output if prices else None,
    )
