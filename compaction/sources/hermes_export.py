"""What Hermes writes out of its database: sessions, lineages and JSON snapshots.

`hermes sessions export` writes one session per line (or one JSON value), a lineage
export holds its sessions in `segments`; both hold only live rows. A snapshot
(`session_<id>.json`) is what the running agent held when it last wrote one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from compaction.sources.fields import identifier, listing, mapping
from compaction.sources.hermes_lineage import Chain, build_chains, session_id
from compaction.sources.hermes_sessions import Material, build_conversation
from compaction.sources.json_input import parse
from compaction.sources.sample import Sample
from compaction.sources.values import SourceConversation

FORMAT = "hermes_export"

Loader = Callable[[str], Mapping[str, Any]]
"""Gives one exported session, with its messages, by its id."""


def matches(sample: Sample) -> bool:
    """Say whether a file holds exported Hermes sessions."""
    if isinstance(sample.document, list):
        return bool(sample.document) and _is_session(sample.document[0])
    first = sample.records[0] if sample.records else sample.document
    return _is_session(first) or _is_snapshot(first)


def _is_session(value: object) -> bool:
    fields = mapping(value)
    has_messages = isinstance(fields.get("messages"), list)
    return has_messages and {"id", "source", "started_at"} <= fields.keys()


def _is_snapshot(value: object) -> bool:
    fields = mapping(value)
    has_messages = isinstance(fields.get("messages"), list)
    return has_messages and {"session_id", "session_start"} <= fields.keys()


def read(sample: Sample) -> Iterator[SourceConversation]:
    """Read one conversation after the other."""
    if sample.document is None:
        yield from _read_lines(sample)
        return
    found: dict[str, Mapping[str, Any]] = {}
    for raw in _sessions_of(sample.document):
        session = _as_session(raw, sample)
        found[session_id(session)] = session
    chains = build_chains(found.values(), lambda sid: _newest(found[sid]))
    yield from _conversations(sample, chains, found.__getitem__)


def _sessions_of(document: object) -> list[Any]:
    if isinstance(document, list):
        return document
    segments = mapping(document).get("segments")
    return segments if isinstance(segments, list) and segments else [document]


def _as_session(raw: object, sample: Sample, line: int | None = None) -> dict[str, Any]:
    fields = dict(mapping(raw))
    named = identifier(fields.get("id") or fields.get("session_id"))
    if not named or not (_is_session(raw) or _is_snapshot(raw)):
        raise sample.failure("not a Hermes session with an id", line=line)
    if _is_session(raw) and identifier(fields["id"]):
        return fields
    fields["id"] = f"snapshot:{named}"
    fields["started_at"] = fields["session_start"]
    fields["source"] = fields.get("platform")
    return fields


def _newest(session: Mapping[str, Any]) -> float:
    stamps = (mapping(row).get("timestamp") for row in listing(session["messages"]))
    return max((float(s) for s in stamps if isinstance(s, float)), default=0.0)


def _conversations(
    sample: Sample, chains: list[Chain], load: Loader, notes: tuple[str, ...] = ()
) -> Iterator[SourceConversation]:
    for chain in chains:
        sessions = [load(session_id(row)) for row in chain.sessions]
        material = Material(
            chain=replace(chain, notes=(*chain.notes, *notes)),
            rows=tuple(_rows_of(session, sample) for session in sessions),
        )
        conversation = build_conversation(material, source=FORMAT)
        if conversation is not None:
            yield conversation


def _rows_of(session: Mapping[str, Any], sample: Sample) -> list[Mapping[str, Any]]:
    rows = session["messages"]
    sample.check_count(len(rows))
    for position, row in enumerate(rows):
        if not isinstance(row, Mapping):
            where = f"session {session_id(session)}, message {position + 1}"
            raise sample.failure(f"{where}: expected an object")
    return list(rows)


def _read_lines(sample: Sample) -> Iterator[SourceConversation]:
    """Read a lines file twice: first its sessions' heads, then lineage by lineage."""
    heads: dict[str, dict[str, Any]] = {}
    offsets: dict[str, int] = {}
    newest: dict[str, float] = {}
    lines = sample.lines()
    for line, record in lines:
        session = _as_session(record, sample, line)
        sid = session_id(session)
        newest[sid], offsets[sid] = _newest(session), lines.offset
        del session["messages"]
        heads[sid] = session
    chains = build_chains(heads.values(), newest.__getitem__)
    load = _loader(sample, offsets)
    yield from _conversations(sample, chains, load, tuple(lines.notes))


def _loader(sample: Sample, offsets: Mapping[str, int]) -> Loader:
    def load(sid: str) -> Mapping[str, Any]:
        with sample.path.open("rb") as stream:
            stream.seek(offsets[sid])
            raw = stream.readline(sample.limits.line_bytes + 1)
        session = _as_session(parse(raw, sample.path, sample.limits), sample)
        if session_id(session) != sid:
            raise sample.failure("the file changed while it was read")
        return session

    return load
