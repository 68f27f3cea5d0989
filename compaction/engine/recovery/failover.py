"""Which endpoint answers: the primary, a fallback for a while, the primary again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

LIMITED_SECONDS = 60.0
"""How long a primary is left alone after a rate limit or a billing refusal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointState:
    """Where a conversation's calls go; times are seconds of the caller's clock.

    `order` names the endpoints, the primary first.
    """

    order: tuple[str, ...]
    current: int = 0
    limited_until: float = 0.0
    since: float | None = None

    @property
    def name(self) -> str:
        """The endpoint in use."""
        return self.order[self.current]

    @property
    def on_fallback(self) -> bool:
        """True while it is not the primary."""
        return self.current > 0


def start(order: Sequence[str]) -> EndpointState:
    """Begin at the primary; raises ValueError without any endpoint."""
    if not order:
        raise ValueError("at least one endpoint is needed")
    return EndpointState(order=tuple(order))


def fail_over(
    state: EndpointState, now: float, *, limited_for: float = 0.0
) -> EndpointState | None:
    """Go to the next endpoint; None when there is none left."""
    if state.current + 1 >= len(state.order):
        return None
    return replace(
        state,
        current=state.current + 1,
        since=now if state.since is None else state.since,
        limited_until=max(state.limited_until, now + limited_for),
    )


def begin_turn(state: EndpointState, now: float) -> EndpointState:
    """Go back to the primary, unless it is still limited (article 003, pitfall 11)."""
    if not state.on_fallback or now < state.limited_until:
        return state
    return replace(state, current=0, since=None, limited_until=0.0)
