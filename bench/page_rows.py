"""Rows of the pages: against bare pages with the same rows, and against small ones.

Figures are CPU seconds of one request through all of the middleware, both sides in
turn. Every address is visited once before it counts: pages renew themselves all the
time, and what they keep between two visits is part of how they are built.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import unescape
from statistics import median, quantiles
from typing import TYPE_CHECKING

from bench.console import open_console
from bench.rows import Measured, Row
from bench.workshop import Workshop

if TYPE_CHECKING:
    from bench.visits import Visitor

LIST = "/sessions/"
PAGES = 10  # different addresses behind each figure
_KILOBYTES = 200
_NEXT = re.compile(r'href="(\?[^"]*)" rel="next"')
_ROW = re.compile(r'<tr id="c-(\d+)"')


@cache
def visitor_of(workshop: Workshop) -> Visitor:
    """Set the console up with both databases; once for all rows of pages."""
    folder = workshop.folder / "console"
    folder.mkdir()
    open_console(folder)
    from bench.visits import Visitor  # needs Django

    visitor = Visitor(folder)
    talk = workshop.conversation("W").messages[: workshop.sizes.page_messages]
    visitor.make_databases(workshop.sizes.sessions, talk)
    visitor.go_to(max(workshop.sizes.sessions))
    return visitor


# --- addresses ---------------------------------------------------------------
def list_addresses(visitor: Visitor) -> list[tuple[str, str]]:
    """The first pages of the list, each with the bare page of the same rows."""
    pairs: list[tuple[str, str]] = []
    address = LIST
    for _ in range(PAGES):
        page = visitor.get(address)
        first = int(_ROW.findall(page)[0])
        pairs.append((address, f"/bare/sessions/?below={first + 1}"))
        following = _NEXT.search(page)
        if following is None:
            break
        address = LIST + unescape(following[1])
    return pairs


def talk_addresses(messages: int, share: float) -> list[tuple[str, str]]:
    """Pages of messages from a share of the talk on, each with its bare page."""
    from bench.databases import TALK

    start = int(messages * share) // 50 * 50
    places = [at for at in range(start, start + 50 * PAGES, 50) if at < messages]
    return [
        (f"/sessions/{TALK}/?at={p}", f"/bare/sessions/{TALK}/?at={p}") for p in places
    ]


# --- rows --------------------------------------------------------------------
def list_page(workshop: Workshop) -> Measured:
    """Fifty of the most conversations."""
    visitor = visitor_of(workshop)
    return _in_turn(visitor, list_addresses(visitor), workshop.sizes.requests)


def convo_page(workshop: Workshop) -> Measured:
    """Fifty messages in the middle of a long conversation, with plan and ruler."""
    visitor = visitor_of(workshop)
    addresses = talk_addresses(workshop.sizes.page_messages, 0.5)
    return _in_turn(visitor, addresses, workshop.sizes.requests)


def convo_middle(workshop: Workshop) -> Measured:
    """Fifty messages near the end, against the first fifty."""
    visitor = visitor_of(workshop)
    late = talk_addresses(workshop.sizes.page_messages, 0.9)
    early = talk_addresses(workshop.sizes.page_messages, 0.0)
    pairs = [(a, b) for (a, _), (b, _) in zip(late, early, strict=False)]
    return _in_turn(visitor, pairs, workshop.sizes.requests)


def _in_turn(
    visitor: Visitor, pairs: Sequence[tuple[str, str]], requests: int
) -> Measured:
    for pair in pairs:
        for address in pair:
            visitor.get(address)
    left: list[float] = []
    right: list[float] = []
    for number in range(requests):
        ours, other = pairs[number % len(pairs)]
        left.append(visitor.seconds(ours))
        right.append(visitor.seconds(other))
    note = f"median of {requests} visits to {len(pairs)} addresses"
    return Measured(ours=median(left), other=median(right), note=note)


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


def convo_queries(workshop: Workshop) -> Measured:
    """How many queries a late page of messages needs."""
    visitor = visitor_of(workshop)
    late, early = (
        talk_addresses(workshop.sizes.page_messages, share)[0][0]
        for share in (0.9, 0.0)
    )
    visitor.get(early)
    counts = [visitor.queries(address) for address in (late, early)]
    return Measured(ours=counts[0], other=counts[1], unit="queries")


def page_size(
    addresses: Callable[[Workshop], list[str]],
) -> Callable[[Workshop], Measured]:
    """How much the largest of these pages weighs."""

    def measure(workshop: Workshop) -> Measured:
        visitor = visitor_of(workshop)
        sizes = [len(visitor.get(a).encode()) for a in addresses(workshop)]
        return Measured(ours=max(sizes) / 1_000, other=_KILOBYTES, unit="KB")

    return measure


def _lists(workshop: Workshop) -> list[str]:
    return [address for address, _ in list_addresses(visitor_of(workshop))]


def _talks(workshop: Workshop) -> list[str]:
    shares = (0.0, 0.5, 0.9)
    count = workshop.sizes.page_messages
    return [a for share in shares for a, _ in talk_addresses(count, share)]


ROWS = (
    Row(
        name="list_page",
        target="1.5",
        measure=list_page,
        against="a bare page with the same 50 of 100,000 conversations",
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
        against=f"{_KILOBYTES} KB",
    ),
    Row(
        name="convo_page",
        target="2",
        measure=convo_page,
        against="a bare page with the same 50 of 10,000 messages",
    ),
    Row(
        name="convo_middle",
        target="1.2",
        measure=convo_middle,
        against="the first page of the same conversation",
    ),
    Row(
        name="convo_queries",
        target="1",
        measure=convo_queries,
        against="the first page of the same conversation",
    ),
    Row(
        name="convo_size",
        target="1",
        measure=page_size(_talks),
        against=f"{_KILOBYTES} KB",
    ),
)
