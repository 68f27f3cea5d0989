"""The Runs page: one row per run, filtered, sorted, paged by keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from compaction.models import Run
from compaction.selectors.keyset import Cursor, Keyset, Page, read_page

PAGE_SIZE = 50
SORTS: Mapping[str, Keyset] = {
    "queued": Keyset(field="queued_at", kind="time"),
    "tokens": Keyset(field="tokens_before", kind="number"),
}
DEFAULT_SORT = "-queued"
ACTIVE = (Run.Status.QUEUED.value, Run.Status.IN_PROGRESS.value)
_FACETS = ("status", "outcome", "trigger")
_HEAVY = (
    *("ledger", "findings", "prompt", "policy", "usage", "error"),
    *("session__system_prompt", "session__tools"),
    *("session__conversation__endpoint_state", "session__conversation__import_notes"),
    "session__conversation__policy_overrides",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilters:
    """What the operator asked for; empty strings mean "all"."""

    status: str = ""
    outcome: str = ""
    trigger: str = ""

    def chosen(self, *, but: str = "") -> dict[str, str]:
        """Return the facets that narrow the list, leaving one out if asked."""
        return {
            name: value
            for name in _FACETS
            if name != but and (value := getattr(self, name))
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacet:
    """One value of a facet, and how many rows choosing it would leave."""

    value: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunList:
    """One page of runs and the facets around it."""

    page: Page[Run]
    facets: Mapping[str, tuple[RunFacet, ...]]
    total: int
    active: int


def list_runs(filters: RunFilters, *, sort: str, cursor: Cursor | None) -> RunList:
    """Return one page of runs with its facets: two queries."""
    counts = _count_all()
    return RunList(
        page=read_page(
            _light_runs().filter(**filters.chosen()),
            SORTS[sort.removeprefix("-")],
            is_descending=sort.startswith("-"),
            cursor=cursor,
            size=PAGE_SIZE,
        ),
        facets={name: _facet(counts, name, filters) for name in _FACETS},
        total=sum(counts.values()),
        active=sum(n for key, n in counts.items() if key[0] in ACTIVE),
    )


def latest_runs(count: int) -> tuple[Run, ...]:
    """Return the newest runs without their large parts."""
    return tuple(_light_runs().order_by("-queued_at", "-pk")[:count])


def active_runs(count: int) -> tuple[Run, ...]:
    """Return runs that are queued or in progress, oldest first."""
    rows = _light_runs().filter(status__in=ACTIVE)
    return tuple(rows.order_by("queued_at", "pk")[:count])


def _light_runs() -> QuerySet[Run]:
    rows = Run.objects.select_related("session__conversation", "requested_by")
    return rows.defer(*_HEAVY)


Counts = Mapping[tuple[str, ...], int]


def _count_all() -> Counts:
    rows = Run.objects.order_by().values_list(*_FACETS).annotate(n=Count("pk"))
    return {tuple(row[:-1]): row[-1] for row in rows}


def _facet(counts: Counts, name: str, filters: RunFilters) -> tuple[RunFacet, ...]:
    others = filters.chosen(but=name)
    found: Counter[str] = Counter()
    for key, count in counts.items():
        values = dict(zip(_FACETS, key, strict=True))
        if all(values[other] == value for other, value in others.items()):
            found[values[name]] += count
    found[getattr(filters, name)] += 0  # what is chosen stays in sight
    return tuple(
        RunFacet(value=value, count=count)
        for value, count in found.most_common()
        if value
    )
