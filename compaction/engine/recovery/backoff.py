"""How long to wait before the next try: exponential, jittered, never in step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

UniformRandom = Callable[[float, float], float]
"""Returns a number between two bounds; passed in, so tests choose it."""

MAX_RETRY_AFTER = 600.0
"""Longest wait, in seconds, that a provider may ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long; seconds (article 003: 5, 10, 20 …)."""

    attempts: int = 3
    base_delay: float = 5.0
    max_delay: float = 120.0
    continuations: int = 3
    compactions: int = 3
    failovers: int = 3


def backoff(attempt: int, policy: RetryPolicy, uniform: UniformRandom) -> float:
    """Seconds before try `attempt` + 1: min(base · 2^(n−1), max) + U(0, half of it).

    The jitter keeps sessions that failed together from retrying together.
    """
    if attempt < 1:
        raise ValueError("attempts are counted from 1")
    delay = min(policy.base_delay * 2.0 ** min(attempt - 1, 60), policy.max_delay)
    return delay + uniform(0.0, delay * 0.5)


def wait_before(
    attempt: int,
    policy: RetryPolicy,
    uniform: UniformRandom,
    *,
    retry_after: float | None = None,
) -> float:
    """Seconds to wait: the provider's Retry-After when it is longer, with jitter."""
    delay = backoff(attempt, policy, uniform)
    if retry_after is None or retry_after <= delay:
        return delay
    asked = min(retry_after, MAX_RETRY_AFTER)
    return asked + uniform(0.0, min(asked * 0.1, 5.0))
