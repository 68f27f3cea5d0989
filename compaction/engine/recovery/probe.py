"""Which window to believe in after an overflow."""

from __future__ import annotations

PROBE_TIERS = (256_000, 128_000, 64_000, 32_000, 16_000, 8_000)
"""Windows to try in turn when the provider states none, in tokens."""

LONG_CONTEXT_WINDOW = 200_000
"""The window without the long-context tier (article 000, 3.3)."""


def next_window(window: int, stated: int | None = None) -> int:
    """The provider's own number when it is lower, else the next tier down.

    At the last tier the window stays: the run must then do without it.
    """
    if stated is not None and 1_000 <= stated < window:
        return stated
    return next((tier for tier in PROBE_TIERS if tier < window), window)
