"""What rows of pages share: the visitor, addresses, and how visits are measured.

Figures are CPU seconds of one request through all of the middleware, both sides in
turn. Every address is visited once before it counts: pages renew themselves all the
time, and what they keep between two visits is part of how they are built. What a first
visit costs, `list_first` and `convo_first` say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from html import unescape
from statistics import median
from typing import TYPE_CHECKING

from bench.console import open_console
from bench.rows import Measured
from bench.workshop import Workshop

if TYPE_CHECKING:
    from bench.visits import Visitor

LIST = "/sessions/"
PAGES = 10  # different addresses behind each figure
FIRST_VISITS = 30
KILOBYTES = 200
_NEXT = re.compile(r'href="(\?[^"]*)" rel="next"')
_ROW = re.compile(r'<tr id="c-(\d+)"')

Pair = tuple[str, str]
"""The address of a page, and that of the bare page with the same rows."""


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


def walk(
    visitor: Visitor, address: str, pages: int
) -> Iterator[tuple[str, float, str]]:
    """Go from page to page of a list: address, seconds, and the bare page beside it."""
    for _ in range(pages):
        seconds, page = visitor.visit(address)
        yield address, seconds, f"/bare/sessions/?ids={','.join(_ROW.findall(page))}"
        following = _NEXT.search(page)
        if following is None:
            return
        address = LIST + unescape(following[1])


def list_addresses(visitor: Visitor) -> list[Pair]:
    """The first pages of the list, each with the bare page of the same rows."""
    return [(ours, bare) for ours, _, bare in walk(visitor, LIST, PAGES)]


def talk_addresses(messages: int, share: float, *, pages: int = PAGES) -> list[Pair]:
    """Pages of messages from a share of the talk on, each with its bare page."""
    from bench.databases import TALK

    start = int(messages * share) // 50 * 50
    places = [at for at in range(start, start + 50 * pages, 50) if at < messages]
    return [
        (f"/sessions/{TALK}/?at={p}", f"/bare/sessions/{TALK}/?at={p}") for p in places
    ]


def in_turn(visitor: Visitor, pairs: Sequence[Pair], requests: int) -> Measured:
    """Visit both sides of the pairs in turn; return the medians."""
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


def page_size(
    addresses: Callable[[Workshop], list[str]],
) -> Callable[[Workshop], Measured]:
    """How much the largest of these pages weighs."""

    def measure(workshop: Workshop) -> Measured:
        visitor = visitor_of(workshop)
        sizes = [len(visitor.get(a).encode()) for a in addresses(workshop)]
        return Measured(ours=max(sizes) / 1_000, other=KILOBYTES, unit="KB")

    return measure
