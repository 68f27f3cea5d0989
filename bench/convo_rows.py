"""Rows of a long conversation's page: messages, plan and ruler."""

from __future__ import annotations

from statistics import median

from bench.rows import Measured, Row
from bench.visiting import (
    FIRST_VISITS,
    KILOBYTES,
    in_turn,
    page_size,
    talk_addresses,
    visitor_of,
)
from bench.workshop import Workshop


def convo_page(workshop: Workshop) -> Measured:
    """Fifty messages in the middle of a long conversation, with plan and ruler."""
    visitor = visitor_of(workshop)
    addresses = talk_addresses(workshop.sizes.page_messages, 0.5)
    return in_turn(visitor, addresses, workshop.sizes.requests)


def convo_first(workshop: Workshop) -> Measured:
    """Windows of messages that nobody has seen, of a plan that is known."""
    visitor = visitor_of(workshop)
    pairs = talk_addresses(workshop.sizes.page_messages, 0.2, pages=FIRST_VISITS)
    visitor.get(pairs.pop(0)[0])
    visits = [(visitor.seconds(ours), visitor.seconds(bare)) for ours, bare in pairs]
    ours, bare = zip(*visits, strict=True)
    note = f"median of {len(visits)} first visits"
    return Measured(ours=median(ours), other=median(bare), note=note)


def convo_middle(workshop: Workshop) -> Measured:
    """Fifty messages near the end, against the first fifty."""
    visitor = visitor_of(workshop)
    late = talk_addresses(workshop.sizes.page_messages, 0.9)
    early = talk_addresses(workshop.sizes.page_messages, 0.0)
    pairs = [(a, b) for (a, _), (b, _) in zip(late, early, strict=False)]
    return in_turn(visitor, pairs, workshop.sizes.requests)


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


def _talks(workshop: Workshop) -> list[str]:
    shares = (0.0, 0.5, 0.9)
    count = workshop.sizes.page_messages
    return [a for share in shares for a, _ in talk_addresses(count, share)]


ROWS = (
    Row(
        name="convo_page",
        target="2",
        measure=convo_page,
        against="a bare page with the same 50 of 10,000 messages",
    ),
    Row(
        name="convo_first",
        target="6",
        measure=convo_first,
        against="bare pages with the same messages",
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
        against=f"{KILOBYTES} KB",
    ),
)
