"""Plans as pages show them: numbers only, kept while nothing changed.

An outline is kept under its session's revision, a picture under outline, policy and
situation, so that page 200 of a conversation costs what page 1 costs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

from compaction.charts.ruler import Ruler, lay_out_ruler
from compaction.engine.ledger import LedgerEntry, Region, ledger_of
from compaction.engine.messages import Kind
from compaction.engine.outline import Outline, recount
from compaction.engine.plan import Plan, Situation
from compaction.engine.planning import plan_outline
from compaction.engine.policy import CompactionPolicy
from compaction.models import Session
from compaction.selectors.recent import Recent
from compaction.store import load_outline

MAX_BARS = 600
_MESSAGES_KEPT = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One message for the ruler (charts.ruler.Measured)."""

    position: int
    role: str
    kind: str
    tokens: int
    region: str
    pruned: bool
    group: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """All messages of one region; `saved` tokens are freed by shortening there."""

    region: str
    count: int
    tokens: int
    saved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A planned session: what every page draws from numbers.

    `mark` names it: equal marks are equal pictures. `outline` is counted by the
    policy's own rule, as the plan is; `ledger` has one entry for each message.
    """

    mark: str
    outline: Outline
    plan: Plan
    ledger: Sequence[LedgerEntry]
    ruler: Ruler
    stretches: tuple[Stretch, ...]
    shown: Mapping[str, Sequence[int]]  # positions by what a list is narrowed to
    spent: Mapping[str, int]  # tokens by part: system, summary, and the regions

    def __len__(self) -> int:
        return len(self.ledger)

    @property
    def last_position(self) -> int:
        """Position of the last message; -1 when there is none."""
        return len(self) - 1

    @property
    def over_since(self) -> int | None:
        """Position of the message with which the threshold was reached."""
        room = self.plan.threshold - self.plan.situation.fixed_tokens
        positions = range(len(self))
        at = bisect_left(positions, room, key=self._spent_with)
        return at if at < len(self) else None

    def _spent_with(self, position: int) -> int:
        return self.outline.tokens_between(0, position + 1)


_outlines: Recent[Outline] = Recent(len, limit=_MESSAGES_KEPT)
_pictures: Recent[Picture] = Recent(len, limit=_MESSAGES_KEPT)


def outline_of(session: Session) -> Outline:
    """Return the numbers of a session's messages; to be read, never changed."""
    return _outlines.get(_key(session), lambda: load_outline(session))


def picture_of(
    session: Session, policy: CompactionPolicy, situation: Situation
) -> Picture:
    """Plan a session and lay out what pages show of the plan; reads only numbers."""
    key = (_key(session), policy, situation)
    return _pictures.get(key, lambda: _draw(session, policy, situation))


def _draw(session: Session, policy: CompactionPolicy, situation: Situation) -> Picture:
    raw = repr((_key(session), policy, situation)).encode("utf-8", "surrogatepass")
    mark = blake2b(raw, digest_size=16).hexdigest()
    return draw_picture(outline_of(session), policy, situation, mark=mark)


def forget_plans() -> None:
    """Forget all that is kept: for tests that write behind a revision's back."""
    _outlines.clear()
    _pictures.clear()


def _key(session: Session) -> Hashable:
    return (session.pk, session.revision, session.message_count, session.tokens)


def draw_picture(
    outline: Outline, policy: CompactionPolicy, situation: Situation, *, mark: str
) -> Picture:
    """Plan an outline and lay it out; pure."""
    counted = recount(outline, policy)
    plan = plan_outline(outline, policy, situation=situation)
    ledger = ledger_of(plan, counted)
    items = list(_measure(counted, ledger))
    return Picture(
        mark=mark,
        outline=counted,
        plan=plan,
        ledger=ledger,
        ruler=lay_out_ruler(items, max_bars=MAX_BARS),
        stretches=_stretches(counted, ledger),
        shown=_sort_out(counted, ledger),
        spent=_add_up(counted, ledger),
    )


def _measure(outline: Outline, ledger: Iterable[LedgerEntry]) -> Iterable[Measured]:
    groups = _groups(outline)
    for entry, facts in zip(ledger, outline.facts, strict=True):
        yield Measured(
            position=entry.position,
            role=facts.role.value,
            kind=facts.kind.value,
            tokens=facts.tokens,
            region=entry.region.value,
            pruned=bool(entry.pruned),
            group=groups.get(entry.position),
        )


def _groups(outline: Outline) -> dict[int, int]:
    """Positions inside a group that no cut may split -> the group's first position."""
    cuts = outline.cuts
    return {
        position: start
        for start, end in pairwise(cuts)
        if end - start > 1
        for position in range(start, end)
    }


def _stretches(outline: Outline, ledger: Iterable[LedgerEntry]) -> tuple[Stretch, ...]:
    counts = dict.fromkeys(Region, 0)
    tokens = dict.fromkeys(Region, 0)
    saved = dict.fromkeys(Region, 0)
    for entry in ledger:
        counts[entry.region] += 1
        tokens[entry.region] += entry.tokens
        if entry.pruned:
            saved[entry.region] += outline[entry.position].saving
    return tuple(
        Stretch(
            region=region.value,
            count=counts[region],
            tokens=tokens[region],
            saved=saved[region],
        )
        for region in Region
        if counts[region]
    )


_SPEAKERS = {"developer": "system", "function": "tool"}


def _sort_out(
    outline: Outline, ledger: Sequence[LedgerEntry]
) -> dict[str, Sequence[int]]:
    """Positions by who speaks and by what happens to them."""
    found: dict[str, list[int]] = {}
    for entry, facts in zip(ledger, outline.facts, strict=True):
        speaker = _SPEAKERS.get(facts.role.value, facts.role.value)
        found.setdefault(speaker, []).append(entry.position)
        for name in _marks(entry, is_pinned=facts.pinned):
            found.setdefault(name, []).append(entry.position)
    return {"all": range(len(ledger)), **found}


def _marks(entry: LedgerEntry, *, is_pinned: bool) -> Iterable[str]:
    if entry.pruned:
        yield "pruned"
    if entry.region in (Region.KEPT, Region.DROPPED):
        yield entry.region.value
    if is_pinned:
        yield "pinned"


def _add_up(outline: Outline, ledger: Sequence[LedgerEntry]) -> dict[str, int]:
    """Tokens by part of the window; what is dropped is no part of it."""
    spent: dict[str, int] = {}
    for entry, facts in zip(ledger, outline.facts, strict=True):
        if entry.region is Region.DROPPED:
            continue
        kind = "summary" if facts.kind is Kind.SUMMARY else entry.region.value
        kind = "system" if facts.is_system else kind
        spent[kind] = spent.get(kind, 0) + entry.tokens
    return spent
