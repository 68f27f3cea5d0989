"""A session planned for a page: policy, situation, picture, estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction import wiring
from compaction.engine.policy_values import policy_from_dict
from compaction.engine.triggers import Trigger
from compaction.models import Run, Session
from compaction.selectors.estimates import Estimate, Summariser, estimate_run
from compaction.selectors.plans import Picture, picture_of
from compaction.store import situation_of
from compaction.store.policies import PolicyInForce, policy_in_force


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPage:
    """What a run by an operator would do at this moment; nothing is written."""

    in_force: PolicyInForce
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
    situation = situation_of(
        session,
        Trigger.MANUAL,
        focus=focus,
        summariser_window=wiring.summariser_window(),
    )
    picture = picture_of(session, in_force.policy, situation)
    return PlannedPage(
        in_force=in_force,
        picture=picture,
        estimate=estimate_run(picture.plan, current_summariser()),
    )


def plan_of(session: Session, run: Run) -> PlannedPage:
    """Plan a session as a run did: its policy, trigger and focus, its messages."""
    policy = policy_from_dict(run.policy)
    situation = situation_of(
        session,
        Trigger(run.trigger),
        focus=run.focus,
        summariser_window=wiring.summariser_window(),
    )
    picture = picture_of(session, policy, situation)
    return PlannedPage(
        in_force=PolicyInForce(policy=policy, preset=policy.name),
        picture=picture,
        estimate=estimate_run(picture.plan, current_summariser()),
    )


def current_summariser() -> Summariser:
    """Return who would write the summary, and the prices if they are known."""
    facts = wiring.describe_summariser()
    prices = facts.prices
    return Summariser(
        name=facts.name,
        is_embedded=facts.is_embedded,
        input_price=prices.input if prices else None,
        output_price=prices.output if prices else None,
    )
