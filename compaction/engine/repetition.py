"""Signs that an agent goes round in circles about its compactions.

Three of them, each found in one pass: the same thing is read again after a run that
took it out of the window (reported of codex#25900 and others), summaries that hardly
differ (hermes#109682), and runs that follow each other within a few answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from compaction.engine.evidence.extract_files import CHANGES
from compaction.engine.evidence.tool_names import Act
from compaction.engine.messages import Kind, Role
from compaction.engine.policy import CompactionPolicy
from compaction.engine.readings import Reading, acts_in, reading_of

_MOST_WORDS = 50_000  # of a summary that are compared


class LoopKind(StrEnum):
    """How an agent goes round in circles."""

    REREAD = "reread"
    EQUAL_SUMMARIES = "equal_summaries"
    RAPID_RUNS = "rapid_runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One message as far as loops show in it.

    `calls` are (id, tool, arguments as JSON); `digest` tells equal results apart from
    shortened ones; `origin` is its position in the generation before, None for a new
    message.
    """

    role: Role
    kind: Kind = Kind.PLAIN
    calls: tuple[tuple[str, str, str], ...] = ()
    answers: str = ""
    digest: str = ""
    origin: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """One generation; `summary` is the bare text it began with, '' for none."""

    steps: Sequence[Step]
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Something that was read again: where, and where it had been read before.

    `times` counts the runs after which it was read again; `is_told`: the summary names
    it, and still it was not enough.
    """

    what: str
    position: int
    before: tuple[int, int]  # generation, position
    times: int
    is_told: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSign:
    """One sign, in the generation (from 0) that shows it.

    `count` is how many things were read again, or how many runs followed each other
    within `turns` answers of the model; `share` how equal two summaries are, 0 to 1.
    """

    kind: LoopKind
    generation: int
    is_alarm: bool
    count: int = 0
    turns: int = 0
    share: float = 0.0
    repeats: tuple[Repeat, ...] = ()


def find_loops(
    stretches: Sequence[Stretch], policy: CompactionPolicy
) -> tuple[LoopSign, ...]:
    """Return the signs of loops in a chain of generations, oldest first."""
    signs = [
        *_rereads(stretches, policy),
        *_equal_summaries(stretches, policy),
        *_rapid_runs(stretches, policy),
    ]
    return tuple(sorted(signs, key=lambda sign: sign.generation))


# --- read again --------------------------------------------------------------
@dataclass(slots=True)
class _Seen:
    place: tuple[int, int]
    result: tuple[int, int] | None = None  # root of the result
    times: int = 0


@dataclass(slots=True)
class _Reads:
    """What was read so far, by what it is and by the path it is about."""

    seen: dict[Reading, _Seen] = field(default_factory=dict)
    by_path: dict[str, set[Reading]] = field(default_factory=dict)
    waiting: dict[str, _Seen] = field(default_factory=dict)

    def note(self, reading: Reading, call_id: str, place: tuple[int, int]) -> None:
        known = self.seen.get(reading)
        seen = _Seen(place, times=known.times if known else 0)
        self.seen[reading] = seen
        self.waiting[call_id] = seen
        for path in reading.paths:
            self.by_path.setdefault(path, set()).add(reading)

    def forget(self, path: str | None) -> None:
        """A file changed: to read it again is no repetition. None: any file may."""
        if path is None:
            self.seen.clear()
            self.by_path.clear()
            return
        for reading in self.by_path.pop(path, ()):
            self.seen.pop(reading, None)


def _rereads(
    stretches: Sequence[Stretch], policy: CompactionPolicy
) -> Iterator[LoopSign]:
    reads = _Reads()
    roots: list[tuple[int, int]] = []
    digests: dict[tuple[int, int], str] = {}
    for number, stretch in enumerate(stretches):
        roots, whole = _trace(number, stretch.steps, roots, digests)
        repeats = _repeats_in(number, stretch, reads, (roots, whole))
        if repeats:
            again = any(repeat.times > 1 for repeat in repeats)
            yield LoopSign(
                kind=LoopKind.REREAD,
                generation=number,
                is_alarm=again or len(repeats) >= policy.loop_rereads,
                count=len(repeats),
                repeats=tuple(repeats),
            )


def _trace(
    number: int,
    steps: Sequence[Step],
    before: Sequence[tuple[int, int]],
    digests: dict[tuple[int, int], str],
) -> tuple[list[tuple[int, int]], frozenset[tuple[int, int]]]:
    """Return where each message came from, and which copies stand here unshortened."""
    roots: list[tuple[int, int]] = []
    whole: set[tuple[int, int]] = set()
    for position, step in enumerate(steps):
        is_copy = step.origin is not None and step.origin < len(before)
        root = before[step.origin or 0] if is_copy else (number, position)
        if is_copy and digests.get(root) == step.digest:
            whole.add(root)
        digests.setdefault(root, step.digest)
        roots.append(root)
    return roots, frozenset(whole)


def _repeats_in(
    number: int,
    stretch: Stretch,
    reads: _Reads,
    traced: tuple[Sequence[tuple[int, int]], frozenset[tuple[int, int]]],
) -> list[Repeat]:
    roots, whole = traced
    summary = stretch.summary.casefold()
    repeats: dict[Reading, Repeat] = {}
    for position, step in enumerate(stretch.steps):
        if roots[position] != (number, position):
            continue
        seen = reads.waiting.pop(step.answers, None) if step.answers else None
        if seen is not None:
            seen.result = (number, position)
        for call_id, name, arguments in step.calls:
            for path in _changed(name, arguments):
                reads.forget(path)
            reading = reading_of(name, arguments)
            if reading is None:
                continue
            known = reads.seen.get(reading)
            if known and known.place[0] < number and known.result not in whole:
                known.times += 1
                repeats[reading] = Repeat(
                    what=reading.what,
                    position=position,
                    before=known.place,
                    times=known.times,
                    is_told=reading.what.casefold() in summary,
                )
            reads.note(reading, call_id, (number, position))
    return list(repeats.values())


def _changed(name: str, arguments: str) -> Iterator[str | None]:
    for act, path in acts_in(name, arguments):
        if act in CHANGES or act is Act.PATCH:
            yield from path.split(" -> ") if path is not None else (None,)


# --- equal summaries ---------------------------------------------------------
def _equal_summaries(
    stretches: Sequence[Stretch], policy: CompactionPolicy
) -> Iterator[LoopSign]:
    """Nearly equal ones count only where no user spoke between: else they differ."""
    before = ""
    spoke = False
    for number, stretch in enumerate(stretches):
        if stretch.summary and before:
            share = likeness(before, stretch.summary)
            if share == 1 or (share >= policy.loop_alike and not spoke):
                yield LoopSign(
                    kind=LoopKind.EQUAL_SUMMARIES,
                    generation=number,
                    is_alarm=True,
                    share=share,
                )
        if stretch.summary:
            before, spoke = stretch.summary, False
        spoke = spoke or any(_is_new(step, Role.USER) for step in stretch.steps)


def likeness(one: str, other: str) -> float:
    """Return how much of two texts is the same words, 0 to 1; order does not matter."""
    left = Counter(one.split()[:_MOST_WORDS])
    right = Counter(other.split()[:_MOST_WORDS])
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


def _is_new(step: Step, role: Role) -> bool:
    return step.role is role and step.origin is None and step.kind is Kind.PLAIN


# --- runs in quick succession ------------------------------------------------
def _rapid_runs(
    stretches: Sequence[Stretch], policy: CompactionPolicy
) -> Iterator[LoopSign]:
    """Three runs within k answers of the model: each of them bought next to nothing."""
    answers = [
        sum(_is_new(step, Role.ASSISTANT) for step in stretch.steps)
        for stretch in stretches
    ]
    runs = policy.loop_runs
    for number in range(runs, len(stretches)):
        turns = sum(answers[number - runs + 1 : number])
        if turns <= policy.loop_turns:
            yield LoopSign(
                kind=LoopKind.RAPID_RUNS,
                generation=number,
                is_alarm=True,
                count=runs,
                turns=turns,
            )
