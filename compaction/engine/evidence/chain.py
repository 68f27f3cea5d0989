"""The generations of a conversation as one: each message told once, copies traced."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from compaction.engine.evidence.carry import read_previous
from compaction.engine.evidence.items import EvidenceItem
from compaction.engine.evidence.telling import Telling, needles, plain, words_of
from compaction.engine.messages import Kind, Message
from compaction.engine.phases.summary_text import bare_summary

_MADE = frozenset({Kind.SUMMARY, Kind.STUB, Kind.SYNTHETIC})
"""Messages that a compaction made: they tell nothing of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One session of the chain.

    `origins[i]` is the position in the generation before of which message i is a copy,
    None for a message of its own. `task` is the TaskState as it was rendered.
    """

    key: str
    messages: Sequence[Message]
    origins: Sequence[int | None]
    task: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A message: number of its generation from 0, and its position there."""

    generation: int
    position: int


class Chain:
    """Generations, oldest first; `told` are their messages, each of them once."""

    def __init__(self, generations: Sequence[Generation]) -> None:
        self.generations = generations
        self.told: list[Message] = []
        self._spots: list[Spot] = []
        self._roots: list[list[int | None]] = []
        self._openings: dict[int, Opening] = {}
        self._news: dict[int, _Searchable] = {}
        for number, generation in enumerate(generations):
            self._roots.append(list(self._read(number, generation)))

    def _read(self, number: int, generation: Generation) -> Iterator[int | None]:
        """Yield for each message the number of the told one that it is or copies."""
        before = self._roots[-1] if self._roots else []
        pairs = zip(generation.messages, generation.origins, strict=True)
        for position, (message, origin) in enumerate(pairs):
            if origin is not None and origin < len(before):
                yield before[origin]
            elif message.kind in _MADE or message.dropped:
                yield None
            else:
                self.told.append(message)
                self._spots.append(Spot(generation=number, position=position))
                yield len(self.told) - 1

    @property
    def carried(self) -> tuple[EvidenceItem, ...]:
        """What a summary at the very beginning tells of messages nobody knows."""
        return read_previous(_summary_in(self.generations[0].messages)[1])

    def spot_of(self, number: int) -> Spot | None:
        """Return where a told message stands; None for one before all of them."""
        return self._spots[number] if number >= 0 else None

    def opening(self, number: int) -> Opening:
        """Return what a generation began with."""
        if number not in self._openings:
            self._openings[number] = self._open(number)
        return self._openings[number]

    def _open(self, number: int) -> Opening:
        stayed = [
            (position, message)
            for position, message in enumerate(self.generations[number].messages)
            if not self._is_new(number, position) and not message.dropped
        ]
        return Opening(
            whole=self._whole(number, stayed),
            stayed=[pair for pair in stayed if pair[1].kind is not Kind.SUMMARY],
            summary=_summary_in(self.generations[number].messages),
            task=self.generations[number].task,
        )

    def _whole(
        self, number: int, stayed: Sequence[tuple[int, Message]]
    ) -> Mapping[int, int]:
        """Return which told messages stand here unshortened, and where."""
        roots = self._roots[number]
        return {
            root: position
            for position, message in stayed
            if (root := roots[position]) is not None
            and message.content == self.told[root].content
            and message.tool_calls == self.told[root].tool_calls
        }

    def _is_new(self, number: int, position: int) -> bool:
        root = self._roots[number][position]
        return root is not None and self._spots[root].generation == number

    def told_again(self, number: int, item: EvidenceItem) -> int | None:
        """Return the first message that came in a generation and tells an item."""
        if number not in self._news:
            messages = self.generations[number].messages
            new = [
                pair for pair in enumerate(messages) if self._is_new(number, pair[0])
            ]
            self._news[number] = _Searchable(new)
        return self._news[number].message_with(item)


class Opening:
    """What a generation began with: messages that stayed, summary, TaskState."""

    def __init__(
        self,
        *,
        whole: Mapping[int, int],
        stayed: Sequence[tuple[int, Message]],
        summary: tuple[int | None, str],
        task: str,
    ) -> None:
        self._whole = whole
        self._stayed = _Searchable(stayed)
        self.summary_at, text = summary
        self.summary = Telling(text)
        self.task = Telling(task)

    def message_with(self, item: EvidenceItem) -> int | None:
        """Return the position of a message that stayed and tells an item."""
        for told in (item.position, item.first_position):
            if told in self._whole:
                return self._whole[told]
        return self._stayed.message_with(item)


def _summary_in(messages: Sequence[Message]) -> tuple[int | None, str]:
    """Return the summary, bare, and the position of its message; logs may hold more."""
    found = [
        (position, bare_summary(message.carried_summary or message.text))
        for position, message in enumerate(messages)
        if message.carried_summary or message.kind is Kind.SUMMARY
    ]
    if not found:
        return None, ""
    return found[-1][0], "\n\n".join(text for _, text in found)


class _Searchable:
    """Messages with their positions, searched as one text."""

    def __init__(self, messages: Sequence[tuple[int, Message]]) -> None:
        self._messages = messages

    @cached_property
    def _parts(self) -> tuple[Telling, list[int]]:
        texts = [plain(words_of(message)) for _, message in self._messages]
        ends: list[int] = []
        length = 0
        for text in texts:
            length += len(text) + (1 if text else 0)
            ends.append(length)
        return Telling("\n".join(text for text in texts if text)), ends

    def message_with(self, item: EvidenceItem) -> int | None:
        """Return the position of the first message that tells an item."""
        telling, ends = self._parts
        places = [telling.find(needle) for needle in needles(item)]
        found = [place for place in places if place is not None]
        if not found or len(found) < len(places):
            return None
        return self._messages[bisect_right(ends, found[0])][0]
