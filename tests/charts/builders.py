"""Messages for rulers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    position: int
    tokens: int = 10
    role: str = "tool"
    kind: str = "plain"
    region: str = "middle"
    pruned: bool = False
    group: object = None


def make_session(head: int, middle: int, tail: int, *, tokens: int = 10):
    """Messages of three bands, each of the same weight."""
    regions = ["head"] * head + ["middle"] * middle + ["tail"] * tail
    return [
        Measure(position=position, region=region, tokens=tokens)
        for position, region in enumerate(regions)
    ]
