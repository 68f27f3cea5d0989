"""OpenHands records: a history of events, actions and what was observed after them.

What the model said stands in `tool_call_metadata.model_response`, repeated in every
event of that answer. A condensation names the events that are forgotten and the
summary that stands in for them, so it opens a generation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.sources.conversations import (
    UniqueIds,
    chain,
    generation_id,
    opening_id,
    session_of,
    title_of,
)
from compaction.sources.fields import label, mapping
from compaction.sources.openhands_events import (
    Event,
    View,
    is_condensation,
    is_event,
)
from compaction.sources.sample import Sample
from compaction.sources.values import Link, SourceConversation, SourceSession

FORMAT = "openhands"
AGENT = "OpenHands"


def matches(sample: Sample) -> bool:
    """Say whether a file holds events, in a record or as a bare list."""
    first = sample.records[0] if sample.records else sample.document
    if is_event(first):
        return True
    events = first if isinstance(first, list) else mapping(first).get("history")
    flat = _flat(events)
    return bool(flat) and is_event(flat[0])


def _flat(events: object) -> list[Any]:
    """Older records hold pairs of action and observation."""
    if not isinstance(events, list):
        return []
    return [
        event
        for item in events
        for event in (item if isinstance(item, list) else [item])
    ]


def read(sample: Sample) -> Iterator[SourceConversation]:
    """Read one conversation per record."""
    ids = UniqueIds()
    if isinstance(sample.document, list):
        record: Mapping[str, Any] = {"history": sample.document}
        yield from _conversation(record, sample, ids)
    elif not sample.records:
        yield from _conversation(mapping(sample.document), sample, ids)
    elif is_event(sample.records[0]):
        history = [record for _, record in sample.lines()]
        yield from _conversation({"history": history}, sample, ids)
    else:
        for line, record in sample.lines():
            yield from _conversation(record, sample, ids, line=line)


def _conversation(
    record: Mapping[str, Any], sample: Sample, ids: UniqueIds, line: int | None = None
) -> Iterator[SourceConversation]:
    events = _flat(record.get("history"))
    sample.check_count(len(events))
    view = View()
    sessions = _sessions(events, view, sample, line)
    first = sessions[0].messages
    if not first:
        return
    metadata = mapping(record.get("metadata"))
    configured = label(mapping(metadata.get("llm_config")).get("model"), 128)
    model = view.model or configured
    task = label(record.get("instance_id"))
    base = ids.claim(opening_id(first, task))
    named = chain(
        replace(session, external_id=generation_id(base, number), model=model)
        for number, session in enumerate(sessions, start=1)
    )
    yield SourceConversation(
        source=FORMAT,
        external_id=base,
        title=task or title_of(first),
        agent=AGENT,
        model=model,
        sessions=named,
    )


def _sessions(
    events: Sequence[object], view: View, sample: Sample, line: int | None
) -> list[SourceSession]:
    """Walk through the events; each condensation ends one generation."""
    sessions: list[SourceSession] = []
    summary, total = "", 0
    for position, raw in enumerate(events):
        event = mapping(raw)
        if not is_condensation(event):
            _add(view, event, sample, (position, line))
            continue
        total += len(view.entries)
        sample.check_count(total)
        before = _session(view, summary, is_first=not sessions)
        condensed = view.condense(event)
        if condensed is not None:
            sessions.append(replace(before, end_reason="compression"))
            summary = condensed
    return [*sessions, _session(view, summary, is_first=not sessions)]


def _add(
    view: View, event: Event, sample: Sample, place: tuple[int, int | None]
) -> None:
    try:
        view.add(event)
    except ValueError as exc:
        position, line = place
        raise sample.failure(f"event {position + 1}: {exc}", line=line) from None


def _session(view: View, summary: str, *, is_first: bool) -> SourceSession:
    return session_of(
        view.messages,
        external_id="",
        link=Link.ROOT if is_first else Link.IN_PLACE,
        tools=view.tools,
        summary=summary,
    )
