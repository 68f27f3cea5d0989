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


class Skipped(Exception):
    """A row cannot be measured here; the text says why, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Two figures of one run in the same unit; the smaller the better.

    `note` says how they came about: runs and spread.
    """

    ours: float
    other: float
    unit: str = "s"
    note: str = ""

    @property
    def ratio(self) -> float:
        """Ours over other."""
        return self.ours / self.other if self.other else float("inf")


Measure = Callable[["Workshop"], Measured]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line: `measure` raises Skipped, `target` is the largest ratio that passes.

    The target is written as people read it: `3`, `1/1000`, `1.2`. `against` names
    what ours is compared with.
    """

    name: str
    target: str
    measure: Measure
    against: str

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
    return Status.PASS if measured.ratio <= row.limit else Status.FAIL
