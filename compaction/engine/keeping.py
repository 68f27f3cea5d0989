"""What must not get lost in a summary, whoever wrote it.

Constraints of the user are carried word for word in a section of their own, which no
model writes; open todos and constraints that a model left out are put back as the
policy says; and what is lost all the same is named.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from compaction.engine.evidence.audit import LossAudit, audit
from compaction.engine.evidence.carry import read_previous
from compaction.engine.evidence.collect import collect
from compaction.engine.evidence.items import EvidenceItem, EvidenceKind
from compaction.engine.evidence.telling import Telling, words_of
from compaction.engine.evidence.wording import one_line
from compaction.engine.messages import Kind, Message
from compaction.engine.phases.redaction import redact
from compaction.engine.phases.summary_text import (
    PINNED_MESSAGES,
    PINS,
    Section,
    add_item,
    bare_summary,
    pins_in,
    render_sections,
    with_pins,
    without_pins,
)
from compaction.engine.plan import Plan
from compaction.engine.policy import OnLoss
from compaction.engine.tokens import TokenCounter

PIN_SHARE = 0.02
"""Of the threshold: the most tokens that pinned constraints may have."""

APPEND_SHARE = 0.25
"""Of the summary's budget: the most tokens that are put back behind a summary."""

CARRIED_OVER = "Carried Over"
"""Heading of what a model's summary left out and the console put back."""

_CONTEXT = "Critical Context"
_SUBHEADINGS = {
    EvidenceKind.CONSTRAINT: f"{CARRIED_OVER} / Constraints",
    EvidenceKind.TODO: f"{CARRIED_OVER} / Open Todos",
}
_PIN_CHARS = 700
MESSAGE_CHARS = 1_500
"""Characters that a pinned message may have; a longer one is cut at a word."""

Rewrite = Callable[[str, Sequence[str]], str | None]
"""Asks a model once more, given its summary and what is missing; None: it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All evidence of a plan's messages; positions are those of the input list."""

    items: tuple[EvidenceItem, ...]
    at_stake: tuple[EvidenceItem, ...]  # stood in what the summary replaces
    in_middle: tuple[EvidenceItem, ...]  # the same, with positions in the middle alone


def evidence_of(plan: Plan, messages: Sequence[Message]) -> Evidence:
    """Read everything, since a newer word in the tail may supersede an older one."""
    previous = bare_summary(redact(plan.situation.previous_summary))
    items = collect(messages, carried=read_previous(previous))
    place = {position: n for n, position in enumerate(_replaced(plan, messages))}
    return Evidence(
        items=items,
        at_stake=tuple(i for i in items if i.position < 0 or i.position in place),
        in_middle=tuple(
            i.evolve(position=place[i.position]) for i in items if i.position in place
        ),
    )


def _replaced(plan: Plan, messages: Sequence[Message]) -> list[int]:
    """Positions of what `middle_of` returns."""
    kept = frozenset(plan.split.kept)
    return [
        position
        for position in range(plan.split.head_end, plan.split.tail_start)
        if position not in kept
        and messages[position].kind is not Kind.SUMMARY
        and not messages[position].dropped
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """What is carried word for word: constraints, and messages an operator pinned.

    `tokens` of both sections.
    """

    lines: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    tokens: int = 0


def choose_pins(plan: Plan, evidence: Evidence, counter: TokenCounter) -> Pins:
    """Return the live constraints of the user that would go, within their share.

    Only words of a user become one: tool text can neither forge nor evict them. When
    there are too many, the heaviest and newest stay, and the audit names the others.
    """
    previous = bare_summary(redact(plan.situation.previous_summary))
    messages = pins_in(previous, PINNED_MESSAGES)
    if not plan.policy.pin_constraints:
        return Pins(messages=messages, tokens=counter.count("\n".join(messages)))
    before = frozenset(pins_in(previous))
    live = [
        item
        for item in evidence.at_stake
        if item.kind is EvidenceKind.CONSTRAINT
        and item.is_live
        and (item.position >= 0 or item.text in before)
    ]
    limit = int(PIN_SHARE * plan.policy.threshold_tokens)
    pins = _within(live, limit, counter)
    more = counter.count("\n".join(messages))
    return replace(pins, messages=messages, tokens=pins.tokens + more)


def _within(live: Sequence[EvidenceItem], limit: int, counter: TokenCounter) -> Pins:
    used = counter.count(f"## {PINS}\n\n")
    chosen: list[int] = []
    for number in sorted(
        range(len(live)), key=lambda n: (-live[n].weight, -live[n].position)
    ):
        cost = counter.count(f"- {_pin_text(live[number])}\n")
        if used + cost <= limit:
            used += cost
            chosen.append(number)
    lines = dict.fromkeys(_pin_text(live[number]) for number in sorted(chosen))
    return Pins(lines=tuple(lines), tokens=used if lines else 0)


def _pin_text(item: EvidenceItem) -> str:
    return one_line(item.text, _PIN_CHARS)


def add_pins(text: str, pins: Pins) -> str:
    """Return a bare summary with these pins alone, none of them told twice."""
    doubles = {f"- {line}" for line in pins.lines}
    left = [line for line in text.splitlines() if line.strip() not in doubles]
    return with_pins("\n".join(left), pins.lines, pins.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A summary with all that was put back, and what it still loses."""

    text: str
    audit: LossAudit
    appended: int = 0
    asked_again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Keeps the evidence of a plan; `stays` is all that is told beside the summary."""

    plan: Plan
    evidence: Evidence
    pins: Pins
    stays: str
    counter: TokenCounter

    def keep(self, text: str) -> Kept:
        """Pin, and audit: for a summary that rules wrote."""
        pinned = add_pins(text, self.pins)
        return Kept(text=pinned, audit=self._audit(pinned))

    def keep_all(self, text: str, rewrite: Rewrite) -> Kept:
        """Pin, audit, and answer what a model leaves out as the policy says."""
        kept = self.keep(text)
        if not kept.audit.must_haves or self.plan.policy.on_loss is OnLoss.WARN:
            return kept
        asked_again = self.plan.policy.on_loss is OnLoss.RETRY
        if asked_again:
            kept = self._ask_again(text, kept, rewrite)
        return self._append(kept, asked_again=asked_again)

    def _audit(self, text: str) -> LossAudit:
        return audit(self.evidence.at_stake, Telling(f"{text}\n{self.stays}"))

    def _ask_again(self, text: str, kept: Kept, rewrite: Rewrite) -> Kept:
        missing = [one_line(i.text, _PIN_CHARS) for i in kept.audit.must_haves]
        better = rewrite(text, missing)
        if better is None:
            return kept
        second = self.keep(better)
        return second if second.audit.lost <= kept.audit.lost else kept

    def _append(self, kept: Kept, *, asked_again: bool) -> Kept:
        lines = self._fitting(kept.audit.must_haves)
        if not lines:
            return Kept(text=kept.text, audit=kept.audit, asked_again=asked_again)
        sections = [
            Section(
                path=path, items=tuple(_pin_text(i) for i in lines if i.kind is kind)
            )
            for kind, path in _SUBHEADINGS.items()
            if any(item.kind is kind for item in lines)
        ]
        bare = with_pins(kept.text, ())
        text = add_pins(f"{bare}\n\n{render_sections(sections)}", self.pins)
        return Kept(
            text=text,
            audit=self._audit(text),
            appended=len(lines),
            asked_again=asked_again,
        )

    def _fitting(self, missing: Sequence[EvidenceItem]) -> list[EvidenceItem]:
        room = int(APPEND_SHARE * self.plan.summary_budget)
        chosen = []
        for item in missing:
            room -= self.counter.count(f"- {_pin_text(item)}\n")
            if room < 0:
                break
            chosen.append(item)
        return chosen


def put_back(text: str, kind: EvidenceKind, words: str) -> str:
    """Return a bare summary with a lost item put back, before what is pinned."""
    pins, messages = pins_in(text), pins_in(text, PINNED_MESSAGES)
    path = _SUBHEADINGS.get(kind, _CONTEXT)
    added = add_item(without_pins(text), path, one_line(words, _PIN_CHARS))
    return with_pins(added, pins, messages)


def pin_words(text: str, words: str) -> str:
    """Return a bare summary that carries a message word for word from now on."""
    messages = (*pins_in(text, PINNED_MESSAGES), one_line(words, MESSAGE_CHARS))
    return with_pins(text, pins_in(text), dict.fromkeys(messages))


def audit_replaced(
    before: Sequence[Message], stayed: Collection[int], *, previous: str, told: str
) -> LossAudit:
    """Audit a compaction that is done.

    `stayed` are positions of `before` that are still there, `previous` the summary
    then; `told` is all that the agent is told now.
    """
    items = collect(before, carried=read_previous(bare_summary(redact(previous))))
    at_stake = [item for item in items if item.position not in stayed]
    return audit(at_stake, Telling(told))


def keeper_of(
    plan: Plan,
    evidence: Evidence,
    staying: Sequence[Message],
    counter: TokenCounter,
) -> Keeper:
    """Return the keeper of a plan; `staying` are the messages beside the summary."""
    stays = "\n".join([*map(words_of, staying), plan.situation.task])
    return Keeper(
        plan=plan,
        evidence=evidence,
        pins=choose_pins(plan, evidence, counter),
        stays=stays,
        counter=counter,
    )
