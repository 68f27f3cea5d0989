"""The window bar: what the tokens of a context window are spent on, to scale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

WHOLE = 100.0
"""Length of a bar; positions and widths are per cent of it."""


class Part(Protocol):
    """Tokens spent on one kind of content."""

    @property
    def kind(self) -> str:
        """Name of the part: system, tools, task, summary, head, middle or tail."""

    @property
    def tokens(self) -> int:
        """What it costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One part of the bar; `x` and `width` in per cent of the bar."""

    kind: str
    tokens: int
    x: float
    width: float

    @property
    def centre(self) -> float:
        """Where a letter stands."""
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A line across the bar at a number of tokens; `x` in per cent."""

    kind: str
    tokens: int
    x: float

    @property
    def anchor(self) -> str:
        """The side from which the word at the mark is written, so that it fits."""
        if self.x > 75:
            return "end"
        return "middle" if self.x > 25 else "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBar:
    """A laid out bar: its segments, free space included, fill it exactly."""

    segments: tuple[Segment, ...]
    marks: tuple[Mark, ...]
    used: int
    limit: int

    @property
    def free(self) -> int:
        """Tokens left in the window; negative when it overflows."""
        return self.limit - self.used

    @property
    def is_over(self) -> bool:
        """True when more is used than the window holds."""
        return self.used > self.limit


def lay_out_window(
    parts: Iterable[Part], *, limit: int, threshold: int | None = None
) -> WindowBar:
    """Lay out the parts in the order of the prompt; `limit` is the window in tokens.

    The bar is as long as the window, or as what is used when that is more: then the
    end of the window becomes a mark of its own.
    """
    spent = [part for part in parts if part.tokens > 0]
    used = sum(part.tokens for part in spent)
    scale = max(limit, used, threshold or 0, 1)
    amounts = [(part.kind, part.tokens) for part in spent]
    if scale > used:
        amounts.append(("free", scale - used))
    return WindowBar(
        segments=_place(amounts, scale),
        marks=_mark(scale, limit, threshold),
        used=used,
        limit=limit,
    )


def _place(amounts: list[tuple[str, int]], scale: int) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    before = 0
    for kind, tokens in amounts:
        x, end = WHOLE * before / scale, WHOLE * (before + tokens) / scale
        segments.append(Segment(kind=kind, tokens=tokens, x=x, width=end - x))
        before += tokens
    return tuple(segments)


def _mark(scale: int, limit: int, threshold: int | None) -> tuple[Mark, ...]:
    marks = []
    if threshold:
        x = WHOLE * threshold / scale
        marks.append(Mark(kind="threshold", tokens=threshold, x=x))
    if limit < scale:
        marks.append(Mark(kind="limit", tokens=limit, x=WHOLE * limit / scale))
    return tuple(marks)
