"""What still holds: newer values over older ones, done todos, called-off work.

All in one pass over the items in the order of their messages, with look-ups by word,
so the time stays linear.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from compaction.engine.evidence import markers
from compaction.engine.evidence.items import (
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.likeness import Likeness, telling_words
from compaction.engine.evidence.merging import unique
from compaction.engine.evidence.opposed import (
    choices,
    fills_same_slot,
    names_other_number,
    takes_back,
    without_choices,
)
from compaction.engine.evidence.wording import (
    has_value,
    overlap,
    sentences,
)

_CLOSABLE = frozenset(
    {EvidenceKind.TODO, EvidenceKind.NEXT, EvidenceKind.BLOCKER, EvidenceKind.STATE}
)
_CANCELLABLE = _CLOSABLE | {
    EvidenceKind.GOAL,
    EvidenceKind.REQUEST,
    EvidenceKind.QUESTION,
}
_ASKED = frozenset({EvidenceKind.TODO})
_REPLACEABLE = frozenset({EvidenceKind.CONSTRAINT, EvidenceKind.DECISION})


def settle(
    items: Sequence[EvidenceItem], *, carried_at: int = 0
) -> tuple[EvidenceItem, ...]:
    """Return the items with their status; of equal ones only the newest stays.

    What a summary carried (position -1) stands where that summary stood: after the
    messages before `carried_at`.
    """
    ordered = sorted(
        unique(items),
        key=lambda item: carried_at - 0.5 if item.position < 0 else item.position,
    )
    settled = list(ordered)
    common = _common_words(ordered)
    index = {kind: Likeness(common) for kind in EvidenceKind}
    newest: dict[tuple[EvidenceKind, str], int] = {}
    chosen: dict[tuple[str, str], list[int]] = {}
    for number, item in enumerate(ordered):
        _supersede_same_key(settled, newest, number)
        others = [*_ended_by(item, index, settled), *_opposed(settled, chosen, number)]
        for other in others:
            if settled[other].is_live and other != number:
                settled[other] = settled[other].evolve(
                    status=_status_after(item), ended_at=item.position
                )
        if item.kind in _INDEXED:
            index[item.kind].add(number, item.text)
    return tuple(settled)


_INDEXED = _CANCELLABLE | _REPLACEABLE


def _common_words(items: Iterable[EvidenceItem]) -> Counter[str]:
    """Count in how many messages a word stands; carried statements count each."""
    counts: Counter[str] = Counter()
    said: set[str] = set()
    position = -1
    for item in items:
        if item.kind in _INDEXED:
            if item.position != position or position < 0:
                counts.update(said)
                said, position = set(), item.position
            said |= telling_words(item.text)
    counts.update(said)
    return counts


def _supersede_same_key(
    settled: list[EvidenceItem],
    newest: dict[tuple[EvidenceKind, str], int],
    number: int,
) -> None:
    item = settled[number]
    if item.kind not in _REPLACEABLE or not item.key or not item.is_live:
        return
    name = (item.kind, item.key)
    older = newest.get(name)
    newest[name] = number
    if older is not None and settled[older].is_live and _replaces(item, settled[older]):
        settled[older] = settled[older].evolve(
            status=EvidenceStatus.SUPERSEDED, ended_at=item.position
        )


def _replaces(newer: EvidenceItem, older: EvidenceItem) -> bool:
    """True when the newer statement gives the same thing another value.

    Two demands on one thing are no contradiction: `the API must be fast`, `… public`.
    """
    if markers.CHANGE.search(newer.text):
        return True
    both_values = has_value(newer.text) and has_value(older.text)
    return newer.kind is EvidenceKind.CONSTRAINT and both_values


def _ended_by(
    item: EvidenceItem,
    index: dict[EvidenceKind, Likeness],
    settled: Sequence[EvidenceItem],
) -> Iterable[int]:
    """Return what a statement closes, calls off or replaces."""
    if item.kind is EvidenceKind.DONE or _is_closed_todo(item):
        told = markers.FINISHED.sub(" ", item.text)
        return _alike(index, _CLOSABLE, told, least=0.7, shared=2)
    if item.kind in (EvidenceKind.GOAL, EvidenceKind.REQUEST):
        return _called_off(item.text, index)
    if item.kind is EvidenceKind.CONSTRAINT:
        replaced = _replaced(item.text, index[item.kind], settled)
        if takes_back(item.text):
            return [*replaced, *_alike(index, _ASKED, item.text, least=0.6, shared=3)]
        return replaced
    return ()


def _replaced(
    text: str, known: Likeness, settled: Sequence[EvidenceItem]
) -> Iterable[int]:
    """Return the constraints in whose place a newer one steps."""
    near = known.alike(text, least=0.6, shared=2)
    if takes_back(text):  # the older one may have a value of its own, not a topic
        return [number for number in near if known.lacks(text, number) <= 1]
    return [
        number
        for number in near
        if fills_same_slot(text, settled[number].text)
        or names_other_number(text, settled[number].text)
    ]


def _opposed(
    settled: Sequence[EvidenceItem],
    chosen: dict[tuple[str, str], list[int]],
    number: int,
) -> list[int]:
    """Return the constraints that chose otherwise: tabs before, spaces now."""
    item = settled[number]
    if item.kind is not EvidenceKind.CONSTRAINT:
        return []
    named = list(choices(item.text))
    about = without_choices(item.text) if named else frozenset()
    ended = [
        other
        for family, choice, is_wanted in named
        for (its_family, its_choice), others in chosen.items()
        if its_family == family and (its_choice == choice) is not is_wanted
        for other in others[-_MOST_OPPOSED:]
        if _is_about_same(about, without_choices(settled[other].text))
    ]
    for family, choice, is_wanted in named:
        if is_wanted:
            chosen.setdefault((family, choice), []).append(number)
    return ended


_MOST_OPPOSED = 8


def _is_about_same(newer: frozenset[str], older: frozenset[str]) -> bool:
    """True when a choice names no topic of its own, or the older one's."""
    return not newer or not older or overlap(newer, older) >= 0.5


def _called_off(text: str, index: dict[EvidenceKind, Likeness]) -> list[int]:
    """Return what a request of the user ends: `skip the French invoices`."""
    ended: list[int] = []
    for sentence in sentences(text, most=20):
        if markers.CANCEL.search(sentence) and not markers.TODO.search(sentence):
            target = markers.CANCEL.sub(" ", sentence)
            shared = 1 if markers.WHOLE_WORK.search(sentence) else 2
            ended += _alike(index, _CANCELLABLE, target, least=0.5, shared=shared)
    return ended


def _is_closed_todo(item: EvidenceItem) -> bool:
    return item.kind is EvidenceKind.TODO and not item.is_live


def _alike(
    index: dict[EvidenceKind, Likeness],
    kinds: Iterable[EvidenceKind],
    text: str,
    *,
    least: float,
    shared: int,
) -> list[int]:
    return [
        number
        for kind in kinds
        for number in index[kind].same_names(text, least=least, shared=shared)
    ]


def _status_after(item: EvidenceItem) -> EvidenceStatus:
    if item.kind is EvidenceKind.DONE or item.status is EvidenceStatus.RESOLVED:
        return EvidenceStatus.RESOLVED
    return EvidenceStatus.SUPERSEDED
