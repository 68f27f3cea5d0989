"""What a row of the benchmark is, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.workshop import Workshop


class Status(StrEnum):
    """What came of a row; `ran` in quick mode, whose sizes say nothing about speed."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"
    RAN = "ran"


class Rule(StrEnum):
    """What of a row is held against its target."""

    RATIO_UP_TO = "ratio_up_to"
    RATIO_FROM = "ratio_from"
    VALUE_UP_TO = "value_up_to"  # ours alone, whatever the other side has
    VALUE_FROM = "value_from"

    @property
    def sign(self) -> str:
        """How the target is written."""
        return ">=" if self in (Rule.VALUE_FROM, Rule.RATIO_FROM) else "<="


class Skipped(Exception):
    """A row cannot be measured here; the text says why, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Two figures of one run in the same unit.

    `other` is None where ours alone is judged and the other side cannot be had;
    `note` says how the figures came about: runs and spread.
    """

    ours: float
    other: float | None
    unit: str = "s"
    note: str = ""

    @property
    def ratio(self) -> float:
        """Ours over other; infinite over nothing."""
        return self.ours / self.other if self.other else float("inf")


Measure = Callable[["Workshop"], Measured]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line: `measure` raises Skipped, `target` is the last figure that passes.

    `rule` says which figure, and from which side. The target is written as people read
    it: `3`, `1/1000`, `1.2`. `against` names what ours is compared with.
    """

    name: str
    target: str
    measure: Measure
    against: str
    rule: Rule = Rule.RATIO_UP_TO

    def passes(self, measured: Measured) -> bool:
        """Hold the figure that counts against the target."""
        if self.rule is Rule.VALUE_FROM:
            return measured.ours >= self.limit
        if self.rule is Rule.VALUE_UP_TO:
            return measured.ours <= self.limit
        if self.rule is Rule.RATIO_FROM:
            return measured.ratio >= self.limit
        return measured.ratio <= self.limit

    @property
    def limit(self) -> float:
        """The target as a number."""
        return float(Fraction(self.target))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A row and what came of it; `note` is one line for people."""

    row: Row
    status: Status
    measured: Measured | None = None
    note: str = ""


def measure_row(row: Row, workshop: Workshop) -> Result:
    """Measure one row; whatever goes wrong in it becomes its result."""
    try:
        measured = row.measure(workshop)
    except Skipped as reason:
        return Result(row=row, status=Status.SKIPPED, note=str(reason))
    except Exception as error:
        note = f"{type(error).__name__}: {error}".replace("\n", " ")
        return Result(row=row, status=Status.FAIL, note=note)
    return Result(
        row=row,
        status=_judge(row, measured, is_quick=workshop.is_quick),
        measured=measured,
        note=measured.note,
    )


def _judge(row: Row, measured: Measured, *, is_quick: bool) -> Status:
    if is_quick:
        return Status.RAN
    return Status.PASS if row.passes(measured) else Status.FAIL
