"""Claude Code's session log (JSON lines, one content block per line).

One API message is split over several lines with one `message.id`; the result of one
call may be logged before the next call of the same message; text of a skill may stand
between a call and its result. Compactions stay in the file: a boundary record, then the
summary as a user message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from compaction.engine.messages import text_of
from compaction.sources.block_shape import to_content
from compaction.sources.claude_messages import render
from compaction.sources.claude_records import (
    Generation,
    Log,
    Record,
    is_message_record,
    sort_records,
)
from compaction.sources.conversations import (
    chain,
    generation_id,
    opening_id,
    session_of,
    single,
    title_of,
)
from compaction.sources.fields import identifier, instant, label, mapping
from compaction.sources.sample import Sample
from compaction.sources.summary_markers import bare_claude, bare_tagged
from compaction.sources.task_lists import todos_from_calls
from compaction.sources.values import (
    Link,
    SourceConversation,
    SourceSession,
)

FORMAT = "claude_code"
AGENT = "Claude Code"


def matches(sample: Sample) -> bool:
    """Say whether records carry a session id, a uuid and a message of the API."""
    return any(
        {"sessionId", "uuid", "parentUuid"} <= record.keys()
        and (is_message_record(record) or record.get("type") == "system")
        for record in sample.records
    )


def read(sample: Sample) -> Iterator[SourceConversation]:
    """Read the session, then each of its sub-agents."""
    lines = sample.lines()
    records: list[Record] = []
    for _, record in lines:
        sample.check_count(len(records) + 1)
        records.append(record)
    log = sort_records(records, sample.check_count)
    if log.generations:
        yield _main(log, tuple(lines.notes))
    for name, chain_records in log.sidechains.items():
        yield _sidechain(log, name, chain_records)


def _main(log: Log, notes: tuple[str, ...]) -> SourceConversation:
    log.session_id = log.session_id or _opening(log.generations[0].sent)
    sessions = chain(
        _session(generation, log, number)
        for number, generation in enumerate(log.generations, start=1)
    )
    if log.microcompactions:
        notes = (*notes, f"microcompactions:{log.microcompactions}")
    if log.dead_ends:
        notes = (*notes, f"rewound_records:{len(log.dead_ends)}")
    tip = sessions[-1]
    messages = [item.message for session in sessions for item in session.messages]
    return SourceConversation(
        source=FORMAT,
        external_id=sessions[0].external_id,
        title=log.title or title_of(sessions[0].messages),
        agent=AGENT,
        model=next((s.model for s in reversed(sessions) if s.model), tip.model),
        sessions=sessions,
        todos=todos_from_calls(messages),
        notes=notes,
        meta=_meta(log.generations[0].sent),
    )


def _opening(records: Sequence[Record]) -> str:
    """Name a log whose records carry no session id by how it begins."""
    return opening_id(render(records, set()))


def _session(generation: Generation, log: Log, number: int) -> SourceSession:
    records = generation.sent
    messages = render(records, log.dead_ends)
    is_last = generation is log.generations[-1]
    summary = generation.summary
    return session_of(
        messages,
        external_id=generation_id(log.session_id, number),
        link=Link.IN_PLACE if number > 1 else Link.ROOT,
        title=log.title,
        model=_model(records),
        started_at=_first_time(generation),
        end_reason="" if is_last else "compression",
        summary=_bare(summary) if summary is not None else "",
    )


def _first_time(generation: Generation) -> datetime | None:
    opening = [generation.opened_by] if generation.opened_by is not None else []
    times = (instant(r.get("timestamp")) for r in [*opening, *generation.records])
    return next(filter(None, times), None)


def _bare(record: Record) -> str:
    said = text_of(to_content(mapping(record.get("message")).get("content")))
    return bare_tagged(bare_claude(said))


def _sidechain(log: Log, name: str, records: list[Record]) -> SourceConversation:
    session = session_of(
        render(records, set()),
        external_id=identifier(f"{log.session_id}/{name}"),
        link=Link.BRANCH,
        model=_model(records),
    )
    meta = {**_meta(records), "branch_of": log.session_id}
    return single(session, source=FORMAT, agent=AGENT, meta=meta)


def _meta(records: Sequence[Record]) -> dict[str, str]:
    first = records[0] if records else {}
    keys = {"version": "version", "cwd": "cwd", "gitBranch": "git_branch"}
    return {new: label(first[old], 500) for old, new in keys.items() if first.get(old)}


def _model(records: Sequence[Record]) -> str:
    for record in reversed(records):
        model = label(mapping(record.get("message")).get("model"), 128)
        if model and model != "<synthetic>":
            return model
    return ""
