"""A conversation as numbers: all that planning needs, and never a body.

An `Outline` grows by one message in constant time and keeps prefix sums and the set of
safe cuts, so that "where would it be cut?" is two binary searches, not a walk.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from operator import sub

from compaction.engine.facts import MessageFacts, digest_of, facts_of
from compaction.engine.messages import Kind, Message, Role, ToolCall
from compaction.engine.phases.shortening import DEFAULT_OPTIONS, options_of
from compaction.engine.policy import CompactionPolicy, CountRule
from compaction.engine.tokens import TokenCounter

__all__ = [
    "MessageFacts",
    "Outline",
    "digest_of",
    "facts_of",
    "outline_of",
    "recount",
]


def _is_request(fact: MessageFacts) -> bool:
    return fact.role is Role.USER and fact.kind is Kind.PLAIN and not fact.dropped


def _is_reply(fact: MessageFacts) -> bool:
    plain = fact.kind is Kind.PLAIN and not fact.dropped
    return plain and fact.role is Role.ASSISTANT and fact.has_text


def _sums(numbers: Iterable[int]) -> list[int]:
    """0, then the sum of the first, of the first two, …"""
    return list(accumulate(numbers, initial=0))


class Outline:
    """A growing sequence of facts with prefix sums and safe cuts.

    A cut is a position: cut i lies between message i-1 and message i. It is safe when
    no call before it is answered behind it, whatever order results arrive in and
    however ids are reused; calls and results are matched nearest first.
    """

    __slots__ = (
        "_cuts",
        "_facts",
        "_last_call",
        "_older",
        "_owner",
        "_prefix",
        "_prunable",
        "_saved",
        "_waiting",
        "dropped",
        "newest_summary",
        "newest_text",
        "newest_user",
        "pinned",
    )

    def __init__(self, facts: Iterable[MessageFacts] = ()) -> None:
        self._facts: list[MessageFacts] = list(facts)
        tokens = [fact.tokens for fact in self._facts]
        savings = list(map(sub, tokens, [fact.pruned_tokens for fact in self._facts]))
        self._prefix = _sums(tokens)
        self._saved = _sums(savings)
        self._prunable = _sums([saving > 0 for saving in savings])
        self._cuts: list[int] = [0]
        self._waiting: dict[str | None, int] = {}  # the newest unanswered call of an id
        self._older: dict[str | None, list[int]] = {}  # calls that wait behind it
        self._last_call: dict[str | None, int] = {}
        self._owner: dict[int, int] = {}
        self.newest_user: int | None = None
        self.newest_text: int | None = None
        self.newest_summary: int | None = None
        self.pinned: list[int] = []
        self.dropped: list[int] = []
        self._pair_up(0)
        self._note_anchors(0)

    def append(self, fact: MessageFacts) -> None:
        """Add one message; amortised constant time."""
        position = len(self._facts)
        self._facts.append(fact)
        self._prefix.append(self._prefix[-1] + fact.tokens)
        self._saved.append(self._saved[-1] + fact.saving)
        self._prunable.append(self._prunable[-1] + (fact.saving > 0))
        self._pair_up(position)
        self._note_anchors(position)

    def _pair_up(self, start: int) -> None:
        """Match calls with results from `start` on, and keep the cuts that are safe.

        Local names, because a plan of a long conversation spends its time here.
        """
        waiting, last_call, cuts = self._waiting, self._last_call, self._cuts
        owners, add_cut, drop_cut = self._owner, cuts.append, cuts.pop
        tool, function = Role.TOOL, Role.FUNCTION
        for position, fact in enumerate(self._facts[start:], start):
            if (role := fact.role) is tool or role is function:
                owner = self._asked_by(fact.result_id)
                if owner is not None:
                    owners[position] = owner
                    while cuts[-1] > owner:
                        drop_cut()
            if call_ids := fact.call_ids:
                for call_id in call_ids:
                    if call_id in waiting:
                        self._older.setdefault(call_id, []).append(waiting[call_id])
                    waiting[call_id] = last_call[call_id] = position
            add_cut(position + 1)

    def _asked_by(self, call_id: str | None) -> int | None:
        """Take the call that the next result of this id answers."""
        owner = self._waiting.pop(call_id, None)
        if owner is None:
            return self._last_call.get(call_id)
        if self._older and self._older.get(call_id):
            self._waiting[call_id] = self._older[call_id].pop()
        return owner

    def _note_anchors(self, start: int) -> None:
        """Note what is marked, and the newest of each kind, from `start` on."""
        plain = Kind.PLAIN
        marked = [
            (position, fact)
            for position, fact in enumerate(self._facts[start:], start)
            if fact.kind is not plain or fact.pinned or fact.dropped
        ]
        for position, fact in marked:
            if fact.pinned:
                self.pinned.append(position)
            if fact.dropped:
                self.dropped.append(position)
            if fact.kind is Kind.SUMMARY:
                self.newest_summary = position
        self.newest_user = self._newest(start, _is_request, self.newest_user)
        self.newest_text = self._newest(start, _is_reply, self.newest_text)

    def _newest(
        self, start: int, is_wanted: Callable[[MessageFacts], bool], known: int | None
    ) -> int | None:
        for position in range(len(self._facts) - 1, start - 1, -1):
            if is_wanted(self._facts[position]):
                return position
        return known

    def __len__(self) -> int:
        return len(self._facts)

    def __getitem__(self, position: int) -> MessageFacts:
        return self._facts[position]

    @property
    def facts(self) -> Sequence[MessageFacts]:
        """All facts in order."""
        return self._facts

    @property
    def tokens(self) -> int:
        """Tokens of all messages."""
        return self._prefix[-1]

    @property
    def cuts(self) -> Sequence[int]:
        """All safe cuts, ascending, 0 and len included."""
        return self._cuts

    def tokens_between(self, start: int, end: int) -> int:
        """Tokens of messages start … end-1."""
        return self._prefix[end] - self._prefix[start]

    def shortened(self, end: int) -> Outline:
        """The outline after all that can be shortened before `end` was."""
        return Outline(
            replace(fact, tokens=fact.pruned_tokens) if position < end else fact
            for position, fact in enumerate(self._facts)
        )

    def saved_between(self, start: int, end: int) -> int:
        """Tokens that shortening messages start … end-1 would free."""
        return self._saved[end] - self._saved[start]

    def prunable_between(self, start: int, end: int) -> int:
        """How many of the messages start … end-1 can be shortened."""
        return self._prunable[end] - self._prunable[start]

    def tail_from(self, budget: int) -> int:
        """Smallest position from which everything fits into `budget` tokens."""
        wanted = self._prefix[-1] - budget
        return bisect_left(self._prefix, wanted) if wanted > 0 else 0

    def cut_at_or_before(self, position: int) -> int:
        """The nearest safe cut that is not behind `position`."""
        return self._cuts[bisect_right(self._cuts, position) - 1]

    def cut_at_or_after(self, position: int) -> int:
        """The nearest safe cut that is not before `position`."""
        return self._cuts[min(bisect_left(self._cuts, position), len(self._cuts) - 1)]

    def call_of(self, position: int) -> int | None:
        """Position of the call that this result answers, None for an orphan."""
        return self._owner.get(position)

    def group_of(self, position: int) -> range:
        """The smallest run of messages between two safe cuts that holds `position`."""
        return range(
            self.cut_at_or_before(position), self.cut_at_or_after(position + 1)
        )

    def open_calls(self) -> frozenset[str]:
        """Ids of calls that no result has answered."""
        return frozenset(call_id for call_id in self._waiting if call_id is not None)

    def open_call_at_end(self) -> int | None:
        """Position of the newest message whose calls are still running.

        Only while nothing but results follows it: once somebody speaks again, the
        call is a thing of the past (hermes#79278).
        """
        position = len(self._facts) - 1
        while position >= 0 and self._facts[position].is_result:
            position -= 1
        if position < 0:
            return None
        ids = self._facts[position].call_ids
        is_open = any(self._waiting.get(call_id) == position for call_id in ids)
        return position if is_open else None


def outline_of(messages: Iterable[Message], counter: TokenCounter) -> Outline:
    """Measure a whole conversation, in order."""
    return Outline(_facts_in_order(messages, counter))


def _facts_in_order(
    messages: Iterable[Message], counter: TokenCounter
) -> Iterator[MessageFacts]:
    calls: dict[str, ToolCall] = {}
    for message in messages:
        call = calls.get(message.tool_call_id or "")
        yield facts_of(message, counter, call=call)
        calls.update((call.id, call) for call in message.tool_calls)


def recount(outline: Outline, policy: CompactionPolicy) -> Outline:
    """Return the outline with the counts that a policy's rules ask for.

    The articles count chars // 4 and 10 a message; every other rule keeps the counts
    as measured, unless the policy shortens from another size on.
    """
    if policy.count_rule is CountRule.CHARS_OVER_4:
        return Outline(_recounted(fact, policy) for fact in outline.facts)
    if policy.prune_min_chars == DEFAULT_OPTIONS.min_chars:
        return outline
    return Outline(_unprunable(fact, policy) for fact in outline.facts)


def _recounted(fact: MessageFacts, policy: CompactionPolicy) -> MessageFacts:
    tokens = fact.chars // 4 + 10 + fact.args_chars // 4
    tokens += fact.images * policy.image_tokens
    pruned = tokens
    if fact.is_result and fact.chars > policy.prune_min_chars and not fact.pinned:
        placeholder = options_of(policy).placeholder
        pruned = min(tokens, len(placeholder) // 4 + 10)
    return replace(fact, tokens=tokens, pruned_tokens=pruned)


def _unprunable(fact: MessageFacts, policy: CompactionPolicy) -> MessageFacts:
    if not fact.is_result or fact.chars > policy.prune_min_chars:
        return fact
    return replace(fact, pruned_tokens=fact.tokens)
