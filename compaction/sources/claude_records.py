"""The records of a Claude Code session, sorted: generations, sub-agents, dead ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from compaction.sources.fields import identifier, label, listing, mapping, text

Record = Mapping[str, Any]


@dataclass(slots=True)
class Generation:
    """The records between two compactions; `kept` uuids are of the one before."""

    records: list[Record] = field(default_factory=list)
    kept: list[Record] = field(default_factory=list)
    opened_by: Record | None = None  # the boundary record or the summary itself

    @property
    def summary(self) -> Record | None:
        """The record that holds the summary this generation began with."""
        first = self.records[0] if self.records else None
        return first if first is not None and is_summary(first) else None

    @property
    def sent(self) -> list[Record]:
        """All records in the order in which the model sees them."""
        at = 1 if self.summary is not None else 0
        return [*self.records[:at], *self.kept, *self.records[at:]]


@dataclass(slots=True)
class Log:
    """What one file holds."""

    session_id: str = ""
    generations: list[Generation] = field(default_factory=lambda: [Generation()])
    sidechains: dict[str, list[Record]] = field(default_factory=dict)
    sidechain_of: dict[str, str] = field(default_factory=dict)  # by uuid
    dead_ends: set[str] = field(default_factory=set)  # uuids of rewound records
    title: str = ""
    microcompactions: int = 0


def is_message_record(record: Record) -> bool:
    """True for a record that holds a message of the API."""
    is_known = record.get("type") in ("user", "assistant")
    return is_known and isinstance(record.get("message"), Mapping)


def is_summary(record: Record) -> bool:
    """True for the summary that opens a compacted conversation."""
    return record.get("isCompactSummary") is True


def is_boundary(record: Record) -> bool:
    """True for the record that Claude Code writes when it compacts."""
    return (
        record.get("type") == "system" and record.get("subtype") == "compact_boundary"
    )


def sort_records(records: Iterable[Record], check: Callable[[int], None]) -> Log:
    """Sort the records of a file; a record logged twice (same uuid) counts once.

    `check` is told how many records all generations hold so far (records that a
    compaction kept count again) and raises when that is too many.
    """
    log = Log()
    seen: set[str] = set()
    titles: list[Record] = []
    main: list[Record] = []
    for record in records:
        uuid = text(record.get("uuid"))
        if uuid and uuid in seen:
            continue
        seen.add(uuid)
        if record.get("isSidechain") is True and is_message_record(record):
            _add_sidechain(log, record)
            log.session_id = log.session_id or identifier(record.get("sessionId"))
        elif is_message_record(record) or is_boundary(record):
            main.append(record)
        elif record.get("subtype") == "microcompact_boundary":
            log.microcompactions += 1
        elif record.get("type") in ("summary", "custom-title", "ai-title"):
            titles.append(record)
    _add_main(log, main, check)
    log.generations = [entry for entry in log.generations if entry.sent]
    log.title = _title(titles, seen)
    return log


def _add_sidechain(log: Log, record: Record) -> None:
    """Add to the sub-agent's records; without agent ids the chain of uuids tells."""
    uuid = text(record.get("uuid"))
    name = identifier(record.get("agentId"))
    name = name or log.sidechain_of.get(text(record.get("parentUuid")), "")
    name = name or identifier(uuid)
    log.sidechain_of[uuid] = name
    log.sidechains.setdefault(name, []).append(record)


def _add_main(log: Log, records: list[Record], check: Callable[[int], None]) -> None:
    log.dead_ends = find_dead_ends(records)
    total = len(records)
    for record in records:
        log.session_id = identifier(record.get("sessionId")) or log.session_id
        current = log.generations[-1]
        if is_boundary(record):
            log.generations.append(_next_generation(current, record))
            total += len(log.generations[-1].kept)
            check(total)
        elif is_summary(record) and not _awaits_summary(current):
            log.generations.append(Generation(records=[record], opened_by=record))
        else:
            current.records.append(record)


def _awaits_summary(generation: Generation) -> bool:
    """A summary belongs to the boundary before it, or opens the file."""
    return not generation.records


def _next_generation(current: Generation, boundary: Record) -> Generation:
    meta = mapping(boundary.get("compactMetadata"))
    wanted = {
        u
        for u in listing(mapping(meta.get("preservedMessages")).get("uuids"))
        if isinstance(u, str)
    }
    segment = mapping(meta.get("preservedSegment"))
    if wanted:
        kept = [r for r in current.sent if text(r.get("uuid")) in wanted]
    else:
        kept = _segment(current.sent, segment.get("headUuid"), segment.get("tailUuid"))
    return Generation(kept=kept, opened_by=boundary)


def _segment(records: list[Record], head: object, tail: object) -> list[Record]:
    places = {
        record.get("uuid"): i
        for i, record in enumerate(records)
        if isinstance(record.get("uuid"), str)
    }
    if not isinstance(head, str) or not isinstance(tail, str):
        return []
    if head not in places or tail not in places:
        return []
    return records[places[head] : places[tail] + 1]


def is_prompt(record: Record) -> bool:
    """True for words of a person: no tool result, nothing that the program wrote."""
    if record.get("type") != "user" or record.get("isMeta") is True:
        return False
    blocks = listing(mapping(record.get("message")).get("content"))
    return not any(mapping(block).get("type") == "tool_result" for block in blocks)


def find_dead_ends(records: list[Record]) -> set[str]:
    """Find what was rewound: of prompts with one parent only the last one counts.

    The branch before it is dead when nothing was added to it afterwards.
    """
    parents = _parent_places(records)
    furthest = list(range(len(records)))  # last record of the branch under each
    for index in reversed(range(len(records))):
        parent = parents[index]
        if parent is not None:
            furthest[parent] = max(furthest[parent], furthest[index])
    dead = [False] * len(records)
    for earlier, later in _rival_prompts(records):
        dead[earlier] = dead[earlier] or furthest[earlier] < later
    for index, parent in enumerate(parents):
        dead[index] = dead[index] or (parent is not None and dead[parent])
    found = (text(r.get("uuid")) for r, gone in zip(records, dead, strict=True) if gone)
    return set(filter(None, found))


def _parent_places(records: list[Record]) -> list[int | None]:
    """Return where each record's parent stands; None when it is not before it."""
    places: dict[str, int] = {}
    found: list[int | None] = []
    for index, record in enumerate(records):
        found.append(places.get(text(record.get("parentUuid"))))
        if uuid := text(record.get("uuid")):
            places[uuid] = index
    return found


def _rival_prompts(records: list[Record]) -> list[tuple[int, int]]:
    """Return pairs of neighbouring prompts that have one parent."""
    newest: dict[str, int] = {}
    rivals = []
    for index, record in enumerate(records):
        parent = text(record.get("parentUuid"))
        if parent and is_prompt(record):
            if parent in newest:
                rivals.append((newest[parent], index))
            newest[parent] = index
    return rivals


def _title(records: list[Record], uuids: set[str]) -> str:
    """Take the user's title, else a summary line that belongs to this file.

    Claude Code writes title lines of other sessions into a file too.
    """
    for record in reversed(records):
        if record.get("type") != "summary":
            title = label(record.get("customTitle") or record.get("aiTitle"))
            if title:
                return title
    for record in reversed(records):
        if text(record.get("leafUuid")) in uuids - {""}:
            return label(record.get("summary"))
    return ""
