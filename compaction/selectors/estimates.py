"""What a plan would cost and leave, before anything is asked of a model."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from compaction.engine.plan import Plan, Verdict

PROMPT_OVERHEAD = 700
"""Tokens of the summariser's instructions around the transcript, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Tokens of the whole request after the run, and the price of the summary.

    `cost` is None where no price is known; `input_tokens` and `output_tokens` are
    what the summariser would read and, at most, write.
    """

    after: int
    change: float
    summariser: str
    is_embedded: bool
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summariser:
    """Who would write the summary; prices are for a million tokens."""

    name: str
    is_embedded: bool
    input_price: Decimal | None = None
    output_price: Decimal | None = None


def estimate_run(plan: Plan, summariser: Summariser) -> Estimate:
    """Project a plan: everything here is an estimate and says so on the page."""
    before = plan.request_tokens
    after = plan.tokens_after + plan.situation.fixed_tokens
    asks = plan.verdict is Verdict.SUMMARISE and not summariser.is_embedded
    read = plan.sizes.middle + PROMPT_OVERHEAD if asks else 0
    written = plan.summary_budget if asks else 0
    return Estimate(
        after=after,
        change=(after - before) / before if before else 0.0,
        summariser=summariser.name,
        is_embedded=summariser.is_embedded,
        input_tokens=read,
        output_tokens=written,
        cost=_price(summariser, read=read, written=written),
    )


def _price(summariser: Summariser, *, read: int, written: int) -> Decimal | None:
    if summariser.input_price is None or summariser.output_price is None:
        return None
    spent = read * summariser.input_price + written * summariser.output_price
    return spent / 1_000_000
