"""Phase 1: which messages are shortened before anything else happens (article 000).

No message is removed here, and none changes its role, ids or place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compaction.engine.messages import Kind, Message, Role, ToolCall
from compaction.engine.phases.shortening import DUPLICATE, options_of, pruned_message
from compaction.engine.plan import Plan
from compaction.engine.policy import PruneForm


def prune(
    plan: Plan, messages: Sequence[Message], *, among: Sequence[int] | None = None
) -> tuple[tuple[Message, ...], tuple[int, ...]]:
    """Shorten what the plan lets be shortened; returns the list and the positions.

    `among` are the positions that somebody will look at, ascending; None: all.
    """
    options = options_of(plan.policy)
    spared = anchors_of(plan, messages)
    places = [
        position
        for position in (range(len(messages)) if among is None else among)
        if position < plan.split.prune_before
        and position not in spared
        and not messages[position].dropped
        and messages[position].kind is not Kind.SUMMARY
    ]
    copies = _duplicates(plan, messages, places)
    calls = _calls_answered(messages, places)
    out = list(messages)
    for position in places:
        message = out[position]
        if position in copies and not message.pinned:
            out[position] = message.evolve(content=DUPLICATE)
        else:
            call = calls.get(position)
            out[position] = pruned_message(message, call=call, options=options)
    edited = tuple([i for i in places if out[i] is not messages[i]])
    return tuple(out), edited


def _calls_answered(
    messages: Sequence[Message], places: Sequence[int]
) -> dict[int, ToolCall]:
    """For the results at these places, the newest call before them with their id."""
    wanted = frozenset(places)
    newest: dict[str, ToolCall] = {}
    found: dict[int, ToolCall] = {}
    for position in range(places[-1] + 1 if places else 0):
        message = messages[position]
        call = newest.get(message.tool_call_id or "")
        if call is not None and position in wanted:
            found[position] = call
        newest.update((call.id, call) for call in message.tool_calls)
    return found


def _duplicates(
    plan: Plan, messages: Sequence[Message], places: Sequence[int]
) -> frozenset[int]:
    """Old results whose very text comes again later (only in the fact form)."""
    if plan.policy.prune_form is not PruneForm.FACT:
        return frozenset()
    least = plan.policy.prune_min_chars
    long = {
        place: messages[place].text
        for place in places
        if messages[place].is_result and len(messages[place].text) > least
    }
    newest = _newest_places(messages, frozenset(long.values()))
    return frozenset(place for place, text in long.items() if newest[text] > place)


def _newest_places(
    messages: Sequence[Message], texts: frozenset[str]
) -> dict[str, int]:
    """The last place of each of these results."""
    lengths = {len(text) for text in texts}  # compared first: a hash reads it all
    if not texts:
        return {}
    results = ((i, m.text) for i, m in enumerate(messages) if m.is_result)
    return {t: place for place, t in results if len(t) in lengths and t in texts}


def anchors_of(plan: Plan, messages: Sequence[Message]) -> frozenset[int]:
    """Positions of the newest user message and reply: they stay word for word."""
    if not plan.policy.anchor_newest:
        return frozenset()
    user = _newest(messages, lambda m: m.role is Role.USER)
    reply = _newest(messages, lambda m: m.role is Role.ASSISTANT and m.has_text)
    return user | reply


def _newest(
    messages: Sequence[Message], is_wanted: Callable[[Message], bool]
) -> frozenset[int]:
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if message.kind is Kind.PLAIN and not message.dropped and is_wanted(message):
            return frozenset({position})
    return frozenset()
