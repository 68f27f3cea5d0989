"""The Sessions page: one row per conversation, filtered, sorted, paged by keys.

Rows live on the columns of `Conversation` alone; no message and no plan is read, and
the number of queries does not depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from compaction.models import Conversation, Cooldown, Run
from compaction.selectors.keyset import Cursor, Keyset, Page, read_page

PAGE_SIZE = 50
SORTS: Mapping[str, Keyset] = {
    "active": Keyset(field="active_at", kind="time"),
    "tokens": Keyset(field="tokens", kind="number"),
    "fill": Keyset(field="fill", kind="number"),
    "messages": Keyset(field="message_count", kind="number"),
    "title": Keyset(field="title", kind="text"),
}
DEFAULT_SORT = "-active"
STATES = (
    *("attention", "over_threshold", "stuck", "cooldown", "running"),
    *("idle", "ended"),
)
NO_MODEL = "-"
PARTS = ("system", "tools", "task", "summary", "head", "kept", "middle", "tail")
"""Parts of a window in the order of the prompt."""

_COLUMNS = (
    *("id", "tip_id", "title", "external_id", "source", "agent", "model", "state"),
    *("window", "tokens", "tokens_origin", "threshold", "fill", "bands", "is_demo"),
    *("session_count", "run_count", "message_count", "last_error", "active_at"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What the operator asked for; empty strings mean "all"."""

    state: str = ""
    source: str = ""
    model: str = ""
    ids: tuple[int, ...] | None = None  # what a search found

    @property
    def is_empty(self) -> bool:
        """True when every conversation is asked for."""
        return not (self.state or self.source or self.model) and self.ids is None

    def without(self, facet: str) -> Filters:
        """Return the filters that remain when one facet is left open."""
        changes: dict[str, Any] = {facet: ""}
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Tokens of one part of the window."""

    kind: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a row says, but for the time; equal facts are shown alike."""

    tip_id: str
    title: str
    external_id: str
    source: str
    agent: str
    model: str
    state: str
    cooldown_until: datetime | None
    session_count: int
    run_count: int
    message_count: int
    tokens: int
    tokens_origin: str
    window: int
    threshold: int
    fill: float
    parts: tuple[Part, ...]
    last_error: str  # status, if there was one, and a code
    is_demo: bool

    @property
    def error_status(self) -> str:
        """The HTTP status of the last error, empty when there was none."""
        status = self.last_error.partition(" ")[0]
        return status if status.isdecimal() else ""

    @property
    def error_code(self) -> str:
        """The reason of the last error."""
        return self.last_error.removeprefix(self.error_status).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One conversation of the list."""

    pk: int
    facts: Facts
    active_at: datetime


def conversations(filters: Filters, now: datetime) -> QuerySet[Conversation]:
    """Return the conversations that the filters ask for, in no order."""
    found = Conversation.objects.all()
    if filters.ids is not None:
        found = found.filter(pk__in=filters.ids)
    if filters.source:
        found = found.filter(source=filters.source)
    if filters.model:
        found = found.filter(model="" if filters.model == NO_MODEL else filters.model)
    if filters.state:
        found = found.filter(_state_clause(filters.state, now))
    return found


def _state_clause(state: str, now: datetime) -> Q:
    if state == "attention":
        worst = [Conversation.State.STUCK, Conversation.State.OVER]
        return Q(state__in=worst) | Q(pk__in=cooling_ids(now))
    if state == "cooldown":
        return Q(pk__in=cooling_ids(now))
    if state == "running":
        return Q(pk__in=running_ids())
    return Q(state=state)


def cooling_ids(now: datetime) -> QuerySet[Cooldown, int]:
    """Return the ids of conversations in cooldown, as a subquery."""
    active = Cooldown.objects.filter(until__gt=now, cleared_at=None)
    return active.values_list("conversation_id", flat=True)


def running_ids() -> QuerySet[Run, int]:
    """Return the ids of conversations with a run on its way, as a subquery."""
    active = Run.objects.filter(status__in=[Run.Status.QUEUED, Run.Status.IN_PROGRESS])
    return active.values_list("session__conversation_id", flat=True)


def list_page(
    filters: Filters, *, sort: str, cursor: Cursor | None, now: datetime
) -> Page[Row]:
    """Return one page of rows: three queries, whatever the page holds."""
    page = read_page(
        conversations(filters, now).only(*_COLUMNS),
        SORTS[sort.removeprefix("-")],
        is_descending=sort.startswith("-"),
        cursor=cursor,
        size=PAGE_SIZE,
    )
    return page.with_rows(_rows_of(page.rows, now))


def _rows_of(found: Sequence[Conversation], now: datetime) -> tuple[Row, ...]:
    ids = [conversation.pk for conversation in found]
    until = _cooldown_ends(ids, now)
    running = set(running_ids().filter(session__conversation_id__in=ids))
    return tuple(
        Row(
            pk=conversation.pk,
            facts=_facts_of(conversation, running=running, until=until),
            active_at=conversation.active_at,
        )
        for conversation in found
    )


def _cooldown_ends(ids: Iterable[int], now: datetime) -> dict[int, datetime]:
    active = Cooldown.objects.filter(
        conversation_id__in=list(ids), until__gt=now, cleared_at=None
    )
    return dict(active.order_by("until").values_list("conversation_id", "until"))


def _facts_of(
    conversation: Conversation, *, running: set[int], until: Mapping[int, datetime]
) -> Facts:
    bands = conversation.bands
    return Facts(
        tip_id=conversation.tip_id or "",
        title=conversation.title,
        external_id=conversation.external_id,
        source=conversation.source,
        agent=conversation.agent,
        model=conversation.model,
        state=_state_of(conversation, running=running, until=until),
        cooldown_until=until.get(conversation.pk),
        session_count=conversation.session_count,
        run_count=conversation.run_count,
        message_count=conversation.message_count,
        tokens=conversation.tokens,
        tokens_origin=conversation.tokens_origin,
        window=conversation.window,
        threshold=conversation.threshold,
        fill=conversation.fill,
        parts=tuple(Part(kind=k, tokens=int(bands[k])) for k in PARTS if bands.get(k)),
        last_error=conversation.last_error,
        is_demo=conversation.is_demo,
    )


def _state_of(
    conversation: Conversation, *, running: set[int], until: Mapping[int, datetime]
) -> str:
    if conversation.pk in running:
        return "in_progress"
    if conversation.state == Conversation.State.STUCK:
        return "stuck"
    if conversation.pk in until:
        return "cooldown"
    return conversation.state
