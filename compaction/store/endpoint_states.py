"""Where a conversation's calls go, kept between turns as JSON.

Endpoints are kept by name: an operator may change their order or take one away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compaction.engine.recovery.failover import EndpointState, start
from compaction.models import Conversation


def endpoint_state_of(
    conversation: Conversation, order: Sequence[str]
) -> EndpointState:
    """Return the state for the endpoints of now; at the primary when nothing is known.

    Raises ValueError without any endpoint.
    """
    kept = conversation.endpoint_state
    fresh = start(order)
    if kept.get("current") not in fresh.order:
        return fresh
    current = fresh.order.index(kept["current"])
    since = kept.get("since") if current else None
    return EndpointState(
        order=fresh.order,
        current=current,
        limited_until=float(kept.get("limited_until") or 0.0),
        since=None if since is None else float(since),
    )


def learnt_window(conversation: Conversation, endpoint: str) -> int | None:
    """Return the window in tokens that an endpoint proved to have, if it did."""
    window = conversation.endpoint_state.get("windows", {}).get(endpoint)
    return window if isinstance(window, int) else None


def endpoint_state_to_json(
    conversation: Conversation, state: EndpointState, *, window: int, declared: int
) -> dict[str, Any]:
    """Write a state; a `window` below the `declared` one is remembered as learnt."""
    windows = dict(conversation.endpoint_state.get("windows", {}))
    if window < declared:
        windows[state.name] = window
    return {
        "current": state.name,
        "on_fallback": state.on_fallback,
        "limited_until": state.limited_until,
        "since": state.since,
        "windows": windows,
    }
