"""The ruler: every message of a session to scale by tokens, with its bands and cuts.

A conversation of any length becomes at most `MAX_BARS` bars: neighbours are gathered,
never across the edge of a band, so that bands still meet at the cuts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import Protocol

LENGTH = 1000.0
"""Length of the ruler; positions and widths are in these units."""

MAX_BARS = 1_000

_LOOKS = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


class Measured(Protocol):
    """What the ruler needs to know of a message; its text is never loaded."""

    @property
    def position(self) -> int:
        """Index in the session, from 0."""

    @property
    def role(self) -> str:
        """Who speaks."""

    @property
    def kind(self) -> str:
        """`summary` for the running summary, else any word."""

    @property
    def tokens(self) -> int:
        """What it costs."""

    @property
    def region(self) -> str:
        """Head, middle or tail; empty when there is no plan."""

    @property
    def pruned(self) -> bool:
        """Whether its tool output is shortened."""

    @property
    def group(self) -> object:
        """Equal for the messages of one tool group; None outside of any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One message, or several neighbours; `height` from 0 to 1 (cube root)."""

    first: int
    last: int
    role: str
    look: str
    pruned: bool
    tokens: int
    x: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A stretch of one region."""

    region: str
    first: int
    last: int
    count: int
    tokens: int
    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """From where to where: the bracket of a tool group."""

    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The boundary before the message at `position`."""

    x: float
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """A laid out ruler: widths of bars and of bands each sum to `LENGTH`."""

    bars: tuple[Bar, ...]
    bands: tuple[Band, ...]
    groups: tuple[Stretch, ...]
    cuts: tuple[Cut, ...]
    count: int
    tokens: int

    @property
    def is_gathered(self) -> bool:
        """True when a bar may stand for several messages."""
        return len(self.bars) < self.count

    def span_of(self, first: int, last: int) -> Stretch | None:
        """Where the messages from `first` to `last` stand; None when none does."""
        inside = [bar for bar in self.bars if bar.last >= first and bar.first <= last]
        if not inside:
            return None
        start, end = inside[0], inside[-1]
        return Stretch(x=start.x, width=end.x + end.width - start.x)


def lay_out_ruler(items: Iterable[Measured], *, max_bars: int = MAX_BARS) -> Ruler:
    """Lay out messages in their order; O(n), numbers only."""
    messages = list(items)
    if not messages:
        return Ruler(bars=(), bands=(), groups=(), cuts=(), count=0, tokens=0)
    edges = _edges(messages)
    runs = _runs([message.region for message in messages])
    chunks = _chunks(runs, len(messages), max_bars)
    bands = tuple(_band(messages, edges, start, end) for start, end in runs)
    return Ruler(
        bars=_bars(messages, edges, chunks),
        bands=bands,
        groups=_groups(messages, edges) if len(chunks) == len(messages) else (),
        cuts=tuple(Cut(x=band.x, position=band.first) for band in bands[1:]),
        count=len(messages),
        tokens=sum(message.tokens for message in messages),
    )


def _edges(messages: Sequence[Measured]) -> list[float]:
    """Left edges of all messages and the right edge of the last, on the ruler."""
    weights = [max(message.tokens, 0) for message in messages]
    if not any(weights):
        weights = [1] * len(messages)
    sums = list(accumulate(weights, initial=0))
    return [LENGTH * before / sums[-1] for before in sums]


def _runs(values: Sequence[object]) -> list[tuple[int, int]]:
    """Half-open index ranges of equal neighbours."""
    lengths = [sum(1 for _ in same) for _, same in groupby(values)]
    return list(pairwise(accumulate(lengths, initial=0)))


def _chunks(
    runs: Sequence[tuple[int, int]], count: int, max_bars: int
) -> list[tuple[int, int]]:
    """Half-open ranges, one for each bar; edges of runs are kept where they fit."""
    if count <= max_bars:
        return [(index, index + 1) for index in range(count)]
    if len(runs) > max_bars // 2:
        return _split(0, count, max_bars)
    spare = max_bars - len(runs)
    return [
        chunk
        for start, end in runs
        for chunk in _split(start, end, 1 + spare * (end - start) // count)
    ]


def _split(start: int, end: int, pieces: int) -> list[tuple[int, int]]:
    pieces = min(pieces, end - start)
    bounds = [start + (end - start) * piece // pieces for piece in range(pieces + 1)]
    return list(pairwise(bounds))


def _bars(
    messages: Sequence[Measured],
    edges: Sequence[float],
    chunks: Sequence[tuple[int, int]],
) -> tuple[Bar, ...]:
    totals = [
        sum(max(message.tokens, 0) for message in messages[start:end])
        for start, end in chunks
    ]
    most = max(totals) or 1
    return tuple(
        _bar(messages[start:end], edges[start], edges[end], (total / most) ** (1 / 3))
        for (start, end), total in zip(chunks, totals, strict=True)
    )


def _bar(messages: Sequence[Measured], left: float, right: float, height: float) -> Bar:
    heaviest = _heaviest(messages)
    return Bar(
        first=messages[0].position,
        last=messages[-1].position,
        role=heaviest.role,
        look=_look_of(heaviest),
        pruned=heaviest.pruned,
        tokens=sum(message.tokens for message in messages),
        x=left,
        width=right - left,
        height=height,
    )


def _heaviest(messages: Sequence[Measured]) -> Measured:
    """A message of the look on which most of the tokens are spent."""
    if len(messages) == 1:
        return messages[0]
    weights: Counter[tuple[str, bool]] = Counter()
    for message in messages:
        weights[(_look_of(message), message.pruned)] += message.tokens
    top = weights.most_common(1)[0][0]
    return next(m for m in messages if (_look_of(m), m.pruned) == top)


def _look_of(message: Measured) -> str:
    if message.kind == "summary":
        return "summary"
    return _LOOKS.get(message.role, "other")


def _band(
    messages: Sequence[Measured], edges: Sequence[float], start: int, end: int
) -> Band:
    inside = messages[start:end]
    return Band(
        region=inside[0].region,
        first=inside[0].position,
        last=inside[-1].position,
        count=len(inside),
        tokens=sum(message.tokens for message in inside),
        x=edges[start],
        width=edges[end] - edges[start],
    )


def _groups(
    messages: Sequence[Measured], edges: Sequence[float]
) -> tuple[Stretch, ...]:
    marks = [
        index if message.group is None else ("group", message.group)
        for index, message in enumerate(messages)
    ]
    return tuple(
        Stretch(x=edges[start], width=edges[end] - edges[start])
        for start, end in _runs(marks)
        if end - start > 1
    )
