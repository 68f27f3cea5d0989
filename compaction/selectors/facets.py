"""Facets of the Sessions page: the values there are, with how many rows each.

Counting reads an index over every conversation, so an answer is kept for some seconds
under a key that changes with the newest conversation: a list of a hundred thousand
costs as much as one of a thousand, and an import is seen at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b

from django.core.cache import cache
from django.db.models import Count

from compaction.models import Conversation
from compaction.selectors.sessions import (
    NO_MODEL,
    STATES,
    Filters,
    conversations,
    cooling_ids,
    running_ids,
)

KEPT_SECONDS = 5
MAX_VALUES = 30
SHOWN_AT_ONCE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One value of one facet, and how many rows choosing it would leave."""

    value: str
    count: int
    is_chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """All facets; `total` is how many rows the filters leave, `mark` names them all."""

    mark: str
    states: tuple[Facet, ...]
    sources: tuple[Facet, ...]
    models: tuple[Facet, ...]
    total: int

    @property
    def first_sources(self) -> tuple[Facet, ...]:
        """The sources that are shown at once."""
        return _first(self.sources)

    @property
    def more_sources(self) -> tuple[Facet, ...]:
        """The sources that unfold."""
        return tuple(f for f in self.sources if f not in self.first_sources)

    @property
    def first_models(self) -> tuple[Facet, ...]:
        """The models that are shown at once."""
        return _first(self.models)

    @property
    def more_models(self) -> tuple[Facet, ...]:
        """The models that unfold."""
        return tuple(f for f in self.models if f not in self.first_models)


def _first(facets: tuple[Facet, ...]) -> tuple[Facet, ...]:
    """The largest, and whichever is chosen."""
    shown = facets[:SHOWN_AT_ONCE]
    return shown + tuple(f for f in facets[SHOWN_AT_ONCE:] if f.is_chosen)


def count_facets(filters: Filters, now: datetime) -> Facets:
    """Count each facet over the rows that the other filters leave."""
    key = _key(filters)
    kept = cache.get(key)
    if isinstance(kept, Facets):
        return kept
    facets = _count(filters, now)
    cache.set(key, facets, KEPT_SECONDS)
    return facets


def _count(filters: Filters, now: datetime) -> Facets:
    states = _states(filters, now)
    sources = _values("source", filters, now)
    models = _values("model", filters, now)
    return Facets(
        mark=_digest((states, sources, models)),
        states=states,
        sources=sources,
        models=models,
        total=conversations(filters, now).count(),
    )


def _digest(value: object) -> str:
    raw = repr(value).encode("utf-8", "surrogatepass")
    return blake2b(raw, digest_size=16).hexdigest()


def _key(filters: Filters) -> str:
    newest = Conversation.objects.order_by("-pk").values_list("pk", flat=True).first()
    return f"facets:{_digest((newest, filters))}"


def _states(filters: Filters, now: datetime) -> tuple[Facet, ...]:
    others = conversations(filters.without("state"), now)
    attention = conversations(replace(filters, state="attention"), now)
    stored = others.order_by().values_list("state").annotate(count=Count("pk"))
    counts: Mapping[str, int] = {
        **dict(stored),
        "attention": attention.count(),
        "cooldown": others.filter(pk__in=cooling_ids(now)).count(),
        "running": others.filter(pk__in=running_ids()).count(),
    }
    return tuple(
        Facet(value=state, count=counts.get(state, 0), is_chosen=state == filters.state)
        for state in STATES
        if counts.get(state) or state == filters.state
    )


def _values(field: str, filters: Filters, now: datetime) -> tuple[Facet, ...]:
    chosen = getattr(filters, field)
    others = conversations(filters.without(field), now)
    grouped = others.order_by().values_list(field).annotate(count=Count("pk"))
    counted = list(grouped.order_by("-count", field)[:MAX_VALUES])
    values = [(value or NO_MODEL, count) for value, count in counted]
    if chosen and chosen not in dict(values):
        values.append((chosen, 0))
    return tuple(
        Facet(value=value, count=count, is_chosen=value == chosen)
        for value, count in values
    )
