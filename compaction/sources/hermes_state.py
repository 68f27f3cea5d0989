"""Hermes Agent's own database (`state.db`, schema 22, older and newer ones too)."""

from __future__ import annotations

from collections.abc import Iterator

from compaction.sources.hermes_database import (
    HermesDatabase,
    sqlite_errors,
    usage_entry,
)
from compaction.sources.hermes_lineage import Chain, build_chains, session_id
from compaction.sources.hermes_sessions import Material, build_conversation
from compaction.sources.sample import Sample
from compaction.sources.task_lists import read_goal
from compaction.sources.values import FileFacts, SourceConversation

FORMAT = "hermes_state"
SOURCE = "hermes"


def matches(sample: Sample) -> bool:
    """Say whether a file is a database with Hermes' tables."""
    if not sample.is_sqlite:
        return False
    with HermesDatabase(sample.path, sample.limits) as database:
        return database.is_hermes


def read(sample: Sample) -> Iterator[SourceConversation]:
    """Read one conversation after the other, each in a transaction of its own."""
    path = sample.path
    with HermesDatabase(path, sample.limits) as database:
        with sqlite_errors(path):
            chains = _chains(sample, database)
        for chain in chains:
            with sqlite_errors(path):
                material = _collect(database, chain)
            conversation = build_conversation(material, source=SOURCE)
            if conversation is not None:
                yield conversation


def _chains(sample: Sample, database: HermesDatabase) -> list[Chain]:
    rows = database.sessions()
    if not all(session_id(row) for row in rows):
        raise sample.failure("a session without an id")
    stored = {session_id(row): row["id"] for row in rows}
    return build_chains(rows, lambda sid: database.newest_message(stored[sid]))


def _collect(database: HermesDatabase, chain: Chain) -> Material:
    ids = [row["id"] for row in chain.sessions]
    with database.transaction():
        current = Chain(
            sessions=tuple(database.session(sid) for sid in ids),
            branch_of=chain.branch_of,
            notes=chain.notes,
        )
        rows = tuple(database.messages(sid) for sid in ids)
        goals = (read_goal(database.goal(sid)) for sid in reversed(ids))
        goal = next(filter(None, goals), "")
        usage = tuple(usage_entry(r) for sid in ids for r in database.usage(sid))
    return Material(chain=current, rows=rows, goal=goal, usage=usage)


def summarise(sample: Sample) -> FileFacts:
    """Count sessions and messages without reading them."""
    path = sample.path
    with HermesDatabase(path, sample.limits) as database, sqlite_errors(path):
        _, messages = database.counts()
        chains = _chains(sample, database)
    return FileFacts(
        format=FORMAT, size=sample.size, conversations=len(chains), messages=messages
    )
