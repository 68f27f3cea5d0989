"""What a text tells of planted facts: literal substrings, at the ends of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bench.quality.facts import Fact
from bench.quality.needles import tells
from compaction.engine.phases.summary_text import parse_sections


def share(facts: Iterable[Fact], text: str, *, where: Callable[[Fact], bool]) -> float:
    """Return the share of the chosen facts that a text tells; of none, all are told."""
    chosen = [fact for fact in facts if where(fact)]
    kept = sum(tells(text, fact.text) for fact in chosen)
    return kept / len(chosen) if chosen else 1.0


def stale_lines(summary: str, facts: Iterable[Fact], *, until: int) -> list[str]:
    """Return the lines of a summary that show what was ended as if it held.

    Everything outside of a Done section shows what holds; a line that names the new
    value beside the old one, or quotes what closed it, tells of the change.
    """
    ended = [fact for fact in facts if fact.is_stale(until)]
    lines = list(_live_lines(summary))
    return [
        line
        for fact in ended
        for line in lines
        if tells(line, fact.text)
        and not (fact.successor and tells(line, fact.successor))
    ]


def _live_lines(summary: str) -> Sequence[str]:
    return [
        line
        for section in parse_sections(summary)
        if "done" not in section.path.casefold()
        for item in section.items
        for line in item.splitlines()
    ]
