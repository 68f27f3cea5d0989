"""What the answers of a turn cost, as columns of its row."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import F, Value
from django.db.models.functions import Coalesce

from compaction import wiring
from compaction.engine.llm import Completion, Usage
from compaction.engine.messages import Message
from compaction.engine.recovery.continuation import CUT

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What an answer cost that is not stored yet; `cost` None when nobody knows."""

    completion: Completion
    endpoint: str
    cost: Decimal | None


def columns_of(spend: Spend | None) -> dict[str, object]:
    """Return the columns that an answer adds to; none without one."""
    if spend is None:
        return {}
    usage = spend.completion.usage or Usage()
    columns: dict[str, object] = {
        "iterations": F("iterations") + 1,
        "input_tokens": F("input_tokens") + usage.input_tokens,
        "output_tokens": F("output_tokens") + usage.output_tokens,
        "endpoint": spend.endpoint[:128],
    }
    if spend.cost is not None:
        columns["cost"] = Coalesce(F("cost"), Value(Decimal(0))) + spend.cost
    return columns


def is_last(message: Message, spend: Spend | None) -> bool:
    """True for the answer that ends a turn: words, no calls, and not cut off."""
    if spend is None or message.tool_calls:
        return False
    return spend.completion.finish_reason != CUT


def cost_of(usage: Usage | None, prices: wiring.Prices | None) -> Decimal | None:
    """Money for a call, None when its usage or its price is unknown."""
    if usage is None or prices is None:
        return None
    spent = usage.input_tokens * prices.input + usage.output_tokens * prices.output
    return round(spent / _MILLION, 6)
