"""Finishing a run: what its row says in the end."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from django.utils import timezone

from compaction import wiring
from compaction.engine.ledger import entry_to_dict, ledger_of
from compaction.engine.llm import Usage
from compaction.engine.phases.assembly import Assembly
from compaction.engine.phases.summary import SummaryResult
from compaction.engine.plan import Outcome
from compaction.engine.validation import Finding, validate
from compaction.models import Run, Session
from compaction.services.runs.context import RunContext
from compaction.services.runs.failures import Failure
from compaction.store import storable

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a run made: the new messages and the summary in them, if there is one.

    `failure` is set when a failed summary was replaced, by the embedded summariser or
    by what the policy puts there; `action` says by which.
    """

    assembly: Assembly
    summary: SummaryResult | None = None
    failure: Failure | None = None
    action: str = ""

    @property
    def reason(self) -> str:
        """The code of the failure, empty without one."""
        return self.failure.reason if self.failure else ""


def finish_completed(
    context: RunContext, result: Result, child: Session | None
) -> None:
    """Write that a run is completed and what came of it; raises LeaseLost."""
    assembly, failure = result.assembly, result.failure
    context.lease.finish(
        status=Run.Status.COMPLETED,
        outcome=assembly.outcome.value,
        reason=result.reason or context.plan.reason.value,
        error=failure.error if failure else "",
        error_status=failure.status if failure else None,
        result_session=child,
        messages_after=len(assembly.messages),
        messages_pruned=_count_pruned(assembly),
        messages_summarised=_count_summarised(context, assembly),
        tokens_after=assembly.tokens_after,
        findings=[finding_to_dict(found) for found in validate(assembly.messages)],
        finished_at=timezone.now(),
        **_plan_columns(context),
        **summary_columns(result.summary),
    )


def finish_unchanged(context: RunContext, outcome: Outcome) -> None:
    """Write that a run is completed and had nothing to change; raises LeaseLost."""
    context.lease.finish(
        status=Run.Status.COMPLETED,
        outcome=outcome.value,
        reason=context.plan.reason.value,
        messages_after=len(context.messages),
        tokens_after=context.plan.tokens_before,
        finished_at=timezone.now(),
        **_plan_columns(context),
    )


def _plan_columns(context: RunContext) -> dict[str, Any]:
    entries = ledger_of(context.plan, context.outline)
    return {"ledger": [entry_to_dict(entry) for entry in entries]}


def _count_pruned(assembly: Assembly) -> int:
    """Shortened messages that are still there; a summarised one is not counted."""
    left = frozenset(origin for origin in assembly.origins if origin is not None)
    return sum(position in left for position in assembly.edited)


def _count_summarised(context: RunContext, assembly: Assembly) -> int:
    is_summary = assembly.outcome is Outcome.SUMMARISED
    return context.plan.sizes.middle_count if is_summary else 0


def finding_to_dict(finding: Finding) -> dict[str, Any]:
    """Write a finding as JSON-safe values."""
    return {
        "fault": finding.fault.value,
        "position": finding.position,
        "detail": storable(finding.detail),
        "is_error": finding.is_error,
    }


def summary_columns(summary: SummaryResult | None) -> dict[str, Any]:
    """The columns about who wrote the summary, and what that cost."""
    if summary is None:
        return {}
    return {
        "summariser": storable(summary.model)[:128],
        "embedded": summary.embedded,
        "usage": asdict(summary.usage) if summary.usage else {},
        "cost": cost_of(summary.usage),
        "latency": summary.latency,
    }


def cost_of(usage: Usage | None) -> Decimal | None:
    """Money for a call by the configured prices, None when either is unknown."""
    prices = wiring.summariser_prices()
    if usage is None or prices is None:
        return None
    spent = usage.input_tokens * prices.input + usage.output_tokens * prices.output
    return round(spent / _MILLION, 6)
