"""Hermes sessions and their rows as one conversation; for the database and exports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from compaction.sources.conversations import chain, generation_id, title_of
from compaction.sources.fields import count, identifier, instant, label, text
from compaction.sources.hermes_blocks import Row, block_starts
from compaction.sources.hermes_lineage import Chain, SessionRow, session_id
from compaction.sources.hermes_rows import read_row
from compaction.sources.openai_shape import tools_of
from compaction.sources.summary_markers import hermes_summary, is_fallback
from compaction.sources.task_lists import hermes_todos
from compaction.sources.values import (
    Link,
    SourceConversation,
    SourceCooldown,
    SourceSession,
)

AGENT = "Hermes Agent"

_NUMBERS = (int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a log holds of one conversation, not yet understood."""

    chain: Chain
    rows: tuple[Sequence[Mapping[str, Any]], ...]  # of each session of the chain
    goal: str = ""
    usage: tuple[Mapping[str, Any], ...] = ()


def build_conversation(material: Material, *, source: str) -> SourceConversation | None:
    """Rebuild the generations of a conversation; None when nobody said anything."""
    notes: Counter[str] = Counter()
    sessions: list[SourceSession] = []
    newest: float | None = None
    pairs = zip(material.chain.sessions, material.rows, strict=True)
    for row, message_rows in pairs:
        rows = [_row(raw, notes) for raw in message_rows]
        sessions.extend(_generations(row, rows, after=newest))
        newest = max((entry.stamp for entry in rows), default=newest or 0.0)
    if not any(session.messages for session in sessions):
        return None
    return _conversation(material, _linked(material, sessions), notes, source=source)


def _row(raw: Mapping[str, Any], notes: Counter[str]) -> Row:
    stamp = raw.get("timestamp")
    is_number = isinstance(stamp, _NUMBERS) and abs(stamp) < 1e18
    return Row(
        item=read_row(raw, notes),
        stamp=float(stamp) if is_number else 0.0,  # type: ignore[arg-type]
        is_active=raw.get("active", 1) not in (0, False),
        is_archived=bool(raw.get("compacted")) and raw.get("active", 1) == 0,
    )


def _generations(
    row: SessionRow, rows: Sequence[Row], *, after: float | None
) -> list[SourceSession]:
    """Split a session into its lists; the last one is as the session row says."""
    starts = block_starts(rows, after=after)
    blocks = [
        rows[start:stop]
        for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True)
    ]
    whole = _session(row)
    found: list[SourceSession] = []
    began = whole.started_at
    before: Sequence[Row] = ()
    for number, block in enumerate(blocks, start=1):
        is_last = number == len(blocks)
        ended = whole.ended_at if is_last else _newest(block)
        found.append(
            replace(
                whole,
                external_id=generation_id(whole.external_id, number),
                link=Link.IN_PLACE if number > 1 else whole.link,
                started_at=began,
                ended_at=ended,
                end_reason=whole.end_reason if is_last else "compression",
                messages=tuple(entry.item for entry in block),
                summary=_running_summary(block, before),
                cooldown=whole.cooldown if is_last else None,
            )
        )
        began, before = ended, block
    return found


def _session(row: SessionRow) -> SourceSession:
    return SourceSession(
        external_id=session_id(row),
        title=label(row.get("title")),
        model=label(row.get("model"), 128),
        system_prompt=text(row.get("system_prompt")),
        tools=tools_of(row.get("tools")),
        started_at=instant(row.get("started_at")),
        ended_at=instant(row.get("ended_at")),
        end_reason=label(row.get("end_reason"), 64),
        cooldown=_cooldown(row),
    )


def _cooldown(row: SessionRow) -> SourceCooldown | None:
    until = instant(row.get("compression_failure_cooldown_until"))
    if until is None:
        return None
    return SourceCooldown(
        until=until,
        error=label(row.get("compression_failure_error"), 2_000),
        failures=max(1, count(row.get("compression_fallback_streak")) or 0),
    )


def _newest(block: Sequence[Row]) -> datetime | None:
    times = [entry.item.at for entry in block if entry.item.at is not None]
    return max(times, default=None)


def _summaries(block: Sequence[Row]) -> list[tuple[float, str]]:
    """Return the bare text of every summary in a list, with its time."""
    found = []
    for entry in block:
        message = entry.item.message
        if message.carried_summary is not None:
            found.append((entry.stamp, message.carried_summary))
        elif entry.is_summary:
            carried = hermes_summary(message.content)
            found.append((entry.stamp, carried.summary if carried else message.text))
    return found


def _running_summary(block: Sequence[Row], before: Sequence[Row]) -> str:
    """The newest summary of a list: an older one may have been kept beside it.

    One that the list before had already is older, whatever its time says.
    """
    known = {text for _, text in _summaries(before)}
    found = _summaries(block)
    newest = [entry for entry in found if entry[1] not in known] or found
    return max(newest, key=lambda entry: entry[0])[1] if newest else ""


def _linked(
    material: Material, sessions: Iterable[SourceSession]
) -> tuple[SourceSession, ...]:
    linked = []
    for position, session in enumerate(chain(sessions)):
        if position == 0:
            link = Link.BRANCH if material.chain.branch_of else Link.ROOT
        else:
            link = Link.IN_PLACE if session.link is Link.IN_PLACE else Link.COMPACTION
        linked.append(replace(session, link=link))
    return tuple(linked)


def _conversation(
    material: Material,
    sessions: tuple[SourceSession, ...],
    notes: Counter[str],
    *,
    source: str,
) -> SourceConversation:
    tip = sessions[-1]
    messages = [item.message for session in sessions for item in session.messages]
    titles = [session.title for session in sessions if session.title]
    return SourceConversation(
        source=source,
        external_id=sessions[0].external_id,
        title=titles[0] if titles else title_of(sessions[0].messages),
        agent=AGENT,
        model=tip.model,
        sessions=sessions,
        task_goal=material.goal,
        todos=hermes_todos(messages),
        notes=(*material.chain.notes, *_fallbacks(sessions), *_counted(notes)),
        meta=_meta(material),
    )


def _fallbacks(sessions: Iterable[SourceSession]) -> list[str]:
    return [
        f"fallback_summary:{s.external_id}" for s in sessions if is_fallback(s.summary)
    ]


def _counted(notes: Counter[str]) -> list[str]:
    return [f"{note}:{number}" for note, number in sorted(notes.items())]


def _meta(material: Material) -> Mapping[str, Any]:
    tip = material.chain.sessions[-1]
    meta: dict[str, Any] = {
        key: label(tip.get(key), 500)
        for key in ("source", "cwd", "git_branch", "profile_name")
        if tip.get(key)
    }
    if material.chain.branch_of:
        meta["branch_of"] = identifier(material.chain.branch_of)
    if material.usage:
        meta["usage"] = [dict(entry) for entry in material.usage]
    return meta
