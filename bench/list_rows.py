"""Rows of the list of conversations."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles
from typing import TYPE_CHECKING

from bench.rows import Measured, Row
from bench.visiting import (
    FIRST_VISITS,
    KILOBYTES,
    LIST,
    in_turn,
    list_addresses,
    page_size,
    visitor_of,
    walk,
)
from bench.workshop import Workshop

if TYPE_CHECKING:
    from bench.visits import Visitor


def list_page(workshop: Workshop) -> Measured:
    """Fifty of the most conversations."""
    visitor = visitor_of(workshop)
    return in_turn(visitor, list_addresses(visitor), workshop.sizes.requests)


def list_first(workshop: Workshop) -> Measured:
    """Pages of the list that nobody has seen: every row is drawn for the first time."""
    visitor = visitor_of(workshop)
    visitor.get(LIST)
    ours: list[float] = []
    bare: list[float] = []
    for _, seconds, beside in walk(visitor, f"{LIST}?sort=tokens", FIRST_VISITS):
        ours.append(seconds)
        bare.append(visitor.seconds(beside))
    note = f"median of {len(ours)} first visits"
    return Measured(ours=median(ours), other=median(bare), note=note)


def list_p95(workshop: Workshop) -> Measured:
    """The slow visits to a list of many, against those to a list of few."""
    visitor = visitor_of(workshop)
    small, large = sorted(workshop.sizes.sessions)
    figures: dict[int, list[float]] = {small: [], large: []}
    rounds = max(1, workshop.sizes.requests // 20)
    for _ in range(rounds):
        for size in (large, small):
            figures[size] += _visits(visitor, size, 20)
    visitor.go_to(large)
    return Measured(
        ours=_p95(figures[large]),
        other=_p95(figures[small]),
        note=f"{rounds} rounds of 20 visits",
    )


def _visits(visitor: Visitor, size: int, times: int) -> list[float]:
    visitor.go_to(size)
    addresses = [address for address, _ in list_addresses(visitor)]
    return [visitor.seconds(addresses[n % len(addresses)]) for n in range(times)]


def _p95(figures: Sequence[float]) -> float:
    return quantiles(figures, n=20)[-1]


def list_queries(workshop: Workshop) -> Measured:
    """How many queries a list needs."""
    visitor = visitor_of(workshop)
    small, large = sorted(workshop.sizes.sessions)
    counts = {}
    for size in (small, large):
        visitor.go_to(size)
        visitor.get(LIST)
        counts[size] = visitor.queries(LIST)
    return Measured(ours=counts[large], other=counts[small], unit="queries")


def _lists(workshop: Workshop) -> list[str]:
    return [address for address, _ in list_addresses(visitor_of(workshop))]


ROWS = (
    Row(
        name="list_page",
        target="1.5",
        measure=list_page,
        against="a bare page with the same 50 of 100,000 conversations",
    ),
    Row(
        name="list_first",
        target="6",
        measure=list_first,
        against="bare pages with the same rows",
    ),
    Row(
        name="list_p95",
        target="1.2",
        measure=list_p95,
        against="the same page over 1,000 conversations",
    ),
    Row(
        name="list_queries",
        target="1",
        measure=list_queries,
        against="the same page over 1,000 conversations",
    ),
    Row(
        name="list_size",
        target="1",
        measure=page_size(_lists),
        against=f"{KILOBYTES} KB",
    ),
)
