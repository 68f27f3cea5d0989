"""Evidence as a summary: all headings, the heaviest first, within a token budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from compaction.engine.evidence.items import EvidenceItem, EvidenceKind
from compaction.engine.evidence.labels import Labels
from compaction.engine.evidence.layout import lay_out
from compaction.engine.evidence.lines import Line
from compaction.engine.evidence.wording import one_line
from compaction.engine.phases.summary_text import (
    SUMMARY_HEADINGS,
    Section,
    render_sections,
)
from compaction.engine.policy import Template
from compaction.engine.tokens import TokenCounter

_MUST_SHARE = 0.8  # of the budget, for goal, constraints and open todos
_BULLET_TOKENS = 2
_LEFT_OUT_TOKENS = 50
_CHEAP = 50.0  # tokens at which the cost of a line halves its worth
_MANY = 60.0  # things of a kind after which the next one is worth half
_REFILLS = 3


def write_items(
    items: Sequence[EvidenceItem],
    template: Template,
    labels: Labels,
    *,
    budget_tokens: int,
    counter: TokenCounter,
) -> str:
    """Write a bare summary of at most `budget_tokens`, if the headings fit at all.

    Goal and constraints come first, whatever else weighs; what found no room is told
    by number. A line whose words stand in another line already is left out.
    """
    lines, too_light = _heaviest(lay_out(items, template, labels), budget_tokens)
    room = budget_tokens - counter.count(_render((), template, labels, ""))
    room -= _LEFT_OUT_TOKENS
    chosen, missing = _choose(lines, room, counter)
    for _ in range(_REFILLS):
        left_out = _left_out([*missing, *too_light], labels)
        text = _render(chosen, template, labels, left_out)
        slack = budget_tokens - counter.count(text)
        if not missing or 0 <= slack < _LEFT_OUT_TOKENS:
            break
        room += slack
        chosen, missing = _choose(lines, room, counter)
    missing += too_light
    return _trimmed(chosen, missing, template, labels, (budget_tokens, counter))


def _heaviest(lines: list[Line], budget_tokens: int) -> tuple[list[Line], list[Line]]:
    """Return the lines that may have room at all, in their order, and the others."""
    most = max(400, budget_tokens // 2)
    if len(lines) <= most:
        return lines, []
    ranked = sorted(
        range(len(lines)), key=lambda n: (not lines[n].must, -lines[n].weight, n)
    )
    kept = sorted(ranked[:most])
    return [lines[n] for n in kept], [lines[n] for n in ranked[most:]]


def _trimmed(
    chosen: list[Line],
    missing: list[Line],
    template: Template,
    labels: Labels,
    limit: tuple[int, TokenCounter],
) -> str:
    """Write the lines, without the lightest ones while that is over the budget."""
    budget, counter = limit
    while True:
        text = _render(chosen, template, labels, _left_out(missing, labels))
        if counter.count(text) <= budget or not chosen:
            return text
        lightest = min(chosen, key=lambda line: (line.must, line.weight))
        chosen = [line for line in chosen if line is not lightest]
        missing = [*missing, lightest]


def _choose(
    lines: Sequence[Line], room: int, counter: TokenCounter
) -> tuple[list[Line], list[Line]]:
    """Return the lines that fit, in their order, and those that do not."""
    must_room = int(room * _MUST_SHARE)
    chosen: dict[int, Line] = {}
    missing: list[Line] = []
    told = ""
    for number in _by_worth(lines, counter):
        line = lines[number]
        if line.key and line.key in told:
            continue
        limit = min(must_room, room) if line.must else room
        fitting = _fit(line, limit, counter)
        if fitting is None:
            missing.append(line)
            continue
        cost = _cost(fitting, counter)
        room -= cost
        must_room -= cost * line.must
        chosen[number] = fitting
        told += f"{fitting.text}\n"
    return [chosen[number] for number in sorted(chosen)], missing


def _by_worth(lines: Sequence[Line], counter: TokenCounter) -> list[int]:
    """Return line numbers: what must stay, then by weight for cost and variety.

    The hundredth error is worth less than the first port: within a kind, worth falls
    with the number of lines that come before.
    """
    worth: dict[int, float] = {}
    ranked: Counter[EvidenceKind] = Counter()
    for number in sorted(range(len(lines)), key=lambda n: (-lines[n].weight, -n)):
        line = lines[number]
        price = 1 + _cost(line, counter) / line.tells / _CHEAP
        worth[number] = line.weight / price / (1 + ranked[line.kind] / _MANY)
        ranked[line.kind] += line.tells
    return sorted(
        worth,
        key=lambda n: (
            not lines[n].must,
            -lines[n].weight if lines[n].must else -worth[n],
            -n,
        ),
    )


def _cost(line: Line, counter: TokenCounter) -> int:
    return counter.count(line.text) + _BULLET_TOKENS


def _fit(line: Line, limit: int, counter: TokenCounter) -> Line | None:
    """Return the line if there is room; one that must stay is shortened to fit."""
    cost = _cost(line, counter)
    if cost <= limit:
        return line
    if not line.must or limit < 12:
        return None
    chars = max(20, int(len(line.text) * (limit - _BULLET_TOKENS) / cost * 0.8))
    shorter = replace(line, text=one_line(line.text, chars))
    return shorter if _cost(shorter, counter) <= limit else None


def _render(
    lines: Iterable[Line], template: Template, labels: Labels, left_out: str
) -> str:
    by_path: dict[str, list[str]] = {}
    for line in lines:
        by_path.setdefault(line.path, []).append(line.text)
    paths = SUMMARY_HEADINGS[template]
    sections = [
        Section(path=path, items=_body(path, by_path, paths, labels)) for path in paths
    ]
    parts = (labels.note, render_sections(sections), left_out)
    return "\n\n".join(part for part in parts if part)


def _body(
    path: str, by_path: dict[str, list[str]], paths: Iterable[str], labels: Labels
) -> tuple[str, ...]:
    is_parent = any(other.startswith(f"{path} / ") for other in paths)
    nothing = () if is_parent else (_word_for_nothing(path, labels),)
    return tuple(dict.fromkeys(by_path.get(path, ()))) or nothing


def _word_for_nothing(path: str, labels: Labels) -> str:
    """The goal is only then unknown when it stands before what was summarised."""
    return labels.no_goal if path == "Goal" else labels.nothing


def _left_out(missing: Sequence[Line], labels: Labels) -> str:
    if not missing:
        return ""
    counts = Counter(line.kind for line in missing)
    told = ", ".join(
        f"{count} {labels.kinds.get(kind.value, kind.value)}"
        for kind, count in counts.most_common(6)
    )
    return labels.left_out.format(told)
