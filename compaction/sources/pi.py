"""Sessions of the pi coding agent (JSON lines, versions 1 to 3).

From version 2 on, entries form a tree (`id`, `parentId`) whose last entry is where the
agent stands; entries off that path were left behind by going back. A compaction entry
holds the summary and names the first entry that is kept verbatim behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compaction.engine.messages import Message
from compaction.sources.conversations import (
    chain,
    generation_id,
    session_of,
    title_of,
)
from compaction.sources.fields import count, identifier, instant, label, text
from compaction.sources.pi_messages import (
    model_of,
    read_entry,
    summary_message,
    usage_of,
)
from compaction.sources.sample import Sample
from compaction.sources.task_lists import todos_from_calls
from compaction.sources.values import (
    Link,
    SourceConversation,
    SourceMessage,
    SourceSession,
)

FORMAT = "pi"
AGENT = "pi"

Entry = Mapping[str, Any]


@dataclass(slots=True)
class _Stretch:
    """Entries between two compactions (places in the file)."""

    places: list[int] = field(default_factory=list)
    compaction: int | None = None  # the entry that opened it


@dataclass(slots=True)
class _Log:
    """All entries of a file and which of them the agent still stands on."""

    entries: Sequence[Entry]
    by_id: dict[str, int]
    path: set[int]


def matches(sample: Sample) -> bool:
    """Say whether the file begins with the header of a session."""
    if not sample.records:
        return False
    header = sample.records[0]
    is_header = header.get("type") == "session" and text(header.get("id")) != ""
    return is_header and {"cwd", "timestamp"} <= header.keys()


def read(sample: Sample) -> Iterator[SourceConversation]:
    """Read the one conversation of a session file."""
    lines = sample.lines()
    entries: list[Entry] = []
    for _, entry in lines:
        sample.check_count(len(entries))
        entries.append(entry)
    log = _index(entries)
    sessions = chain(_sessions(log, sample))
    if any(session.messages for session in sessions):
        yield _conversation(entries, sessions, tuple(lines.notes))


def _index(entries: Sequence[Entry]) -> _Log:
    by_id = {text(entry.get("id")): place for place, entry in enumerate(entries)}
    by_id.pop("", None)
    if not any("parentId" in entry for entry in entries):
        return _Log(entries, by_id, set(range(len(entries))))
    path: set[int] = set()
    place: int | None = len(entries) - 1
    while place is not None and place not in path:
        path.add(place)
        place = by_id.get(text(entries[place].get("parentId")))
    return _Log(entries, by_id, path)


def _stretches(log: _Log) -> list[_Stretch]:
    stretches = [_Stretch()]
    for place, entry in enumerate(log.entries):
        if entry.get("type") == "compaction" and place in log.path:
            stretches.append(_Stretch(compaction=place))
        else:
            stretches[-1].places.append(place)
    return stretches


def _sessions(log: _Log, sample: Sample) -> Iterator[SourceSession]:
    stretches = _stretches(log)
    base = identifier(log.entries[0].get("id"))
    total = 0
    for number, stretch in enumerate(stretches, start=1):
        kept = _kept_places(log, stretch.compaction)
        total += len(kept) + len(stretch.places)
        sample.check_count(total)
        messages = list(_messages(log, stretch, kept))
        opening = log.entries[stretch.compaction or 0]
        yield session_of(
            messages,
            external_id=generation_id(base, number),
            link=Link.IN_PLACE if number > 1 else Link.ROOT,
            model=_model(log, stretch),
            started_at=instant(opening.get("timestamp")),
            end_reason="compression" if number < len(stretches) else "",
            summary=text(opening.get("summary")).strip(),
        )


def _messages(
    log: _Log, stretch: _Stretch, kept: Sequence[int]
) -> Iterator[SourceMessage]:
    if stretch.compaction is not None:
        entry = log.entries[stretch.compaction]
        message = summary_message(text(entry.get("summary")))
        yield _source(entry, message, is_inactive=False)
    for place in (*kept, *stretch.places):
        found = read_entry(log.entries[place])
        if found is not None:
            is_excluded = found.extra.get("excluded") is True
            is_inactive = is_excluded or place not in log.path
            yield _source(log.entries[place], found, is_inactive=is_inactive)


def _source(entry: Entry, message: Message, *, is_inactive: bool) -> SourceMessage:
    return SourceMessage(
        message=message,
        at=instant(entry.get("timestamp")),
        external_id=identifier(entry.get("id")),
        usage_tokens=usage_of(entry),
        inactive=is_inactive,
    )


def _kept_places(log: _Log, compaction: int | None) -> list[int]:
    """Return the entries before a compaction that stay verbatim behind its summary."""
    if compaction is None:
        return []
    entry = log.entries[compaction]
    first = count(entry.get("firstKeptEntryIndex"))  # version 1: place in the file
    if first is None:
        first = log.by_id.get(text(entry.get("firstKeptEntryId")))
    if first is None:
        return []
    return [place for place in range(first, compaction) if place in log.path]


def _model(log: _Log, stretch: _Stretch) -> str:
    for place in reversed(stretch.places):
        if model := model_of(log.entries[place]):
            return model
    return model_of(log.entries[0])


def _conversation(
    entries: Sequence[Entry],
    sessions: tuple[SourceSession, ...],
    notes: tuple[str, ...],
) -> SourceConversation:
    header = entries[0]
    names = [label(e.get("name")) for e in entries if e.get("type") == "session_info"]
    parent = label(header.get("parentSession") or header.get("branchedFrom"), 500)
    if parent:
        sessions = (replace(sessions[0], link=Link.BRANCH), *sessions[1:])
    meta = {"cwd": label(header.get("cwd"), 500), "branch_of": parent}
    messages = [item.message for session in sessions for item in session.messages]
    return SourceConversation(
        source=FORMAT,
        external_id=sessions[0].external_id,
        title=next(filter(None, reversed(names)), "") or title_of(sessions[0].messages),
        agent=AGENT,
        model=sessions[-1].model,
        sessions=sessions,
        todos=todos_from_calls(messages),
        notes=notes,
        meta={key: value for key, value in meta.items() if value},
    )
