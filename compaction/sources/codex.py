"""Codex CLI rollouts (JSON lines).

Everything is logged twice, as `response_item` (what the model gets) and as `event_msg`
(what the screen shows): only the former is read. A `compacted` record replaces the
history, so it opens a generation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from compaction.sources.codex_history import (
    kept_prompts,
    replaced_history,
    summary_in,
    summary_message,
)
from compaction.sources.codex_items import Transcript
from compaction.sources.conversations import (
    chain,
    generation_id,
    opening_id,
    session_of,
    title_of,
)
from compaction.sources.fields import count, identifier, instant, label, mapping, text
from compaction.sources.sample import Sample
from compaction.sources.summary_markers import bare_codex
from compaction.sources.task_lists import todos_from_calls
from compaction.sources.values import (
    Link,
    SourceConversation,
    SourceSession,
)

FORMAT = "codex"
AGENT = "Codex"

_RECORD_TYPES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
)


@dataclass(slots=True)
class _Rollout:
    """What is known while the records come in."""

    meta: Mapping[str, Any] = field(default_factory=dict)
    transcript: Transcript = field(default_factory=Transcript)
    finished: list[SourceSession] = field(default_factory=list)
    finished_messages: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    began: datetime | None = None
    model: str = ""
    window: int | None = None
    usage: int | None = None
    title: str = ""
    aborted_turns: int = 0
    summary: str = ""


def matches(sample: Sample) -> bool:
    """Say whether records are those of a rollout, of today or from before 09/2025."""
    if not sample.records:
        return False
    if _is_old_header(sample.records[0]):
        return True
    return any(
        record.get("type") in _RECORD_TYPES and isinstance(record.get("payload"), dict)
        for record in sample.records
        if isinstance(record.get("type"), str)
    )


def _is_old_header(record: Mapping[str, Any]) -> bool:
    return "type" not in record and {"id", "timestamp", "instructions"} <= record.keys()


def read(sample: Sample) -> Iterator[SourceConversation]:
    """Read the one conversation of a rollout."""
    rollout = _Rollout()
    lines = sample.lines()
    for _, record in lines:
        _add_record(rollout, record)
        sample.check_count(rollout.finished_messages + len(rollout.transcript.messages))
    rollout.finished.append(_finish(rollout))
    conversation = _conversation(rollout, tuple(lines.notes))
    if any(session.messages for session in conversation.sessions):
        yield conversation


def _add_record(rollout: _Rollout, record: Mapping[str, Any]) -> None:
    kind = text(record.get("type"))
    payload = mapping(record.get("payload"))
    at = instant(record.get("timestamp"))
    rollout.began = rollout.began or at
    if kind == "session_meta" or _is_old_header(record):
        rollout.meta = rollout.meta or payload or record
    elif kind == "response_item":
        rollout.transcript.add(payload, at)
    elif kind == "event_msg":
        _add_event(rollout, payload)
    elif kind == "turn_context":
        rollout.model = label(payload.get("model"), 128) or rollout.model
    elif kind == "compacted":
        _compact(rollout, payload, at)
    elif kind and not payload:
        rollout.transcript.add(record, at)  # before 09/2025 items stood alone


def _add_event(rollout: _Rollout, payload: Mapping[str, Any]) -> None:
    kind = payload.get("type")
    if kind == "token_count":
        info = mapping(payload.get("info"))
        tokens = count(mapping(info.get("last_token_usage")).get("input_tokens"))
        rollout.usage = tokens or rollout.usage
        rollout.transcript.add_usage(tokens)
        rollout.window = count(info.get("model_context_window")) or rollout.window
    elif kind == "task_started":
        rollout.window = count(payload.get("model_context_window")) or rollout.window
    elif kind == "turn_aborted":
        rollout.aborted_turns += 1
    elif kind == "thread_rolled_back":
        rollout.transcript.roll_back(count(payload.get("num_turns")) or 0)
    elif kind == "thread_name_updated":
        rollout.title = label(payload.get("thread_name")) or rollout.title


def _compact(
    rollout: _Rollout, payload: Mapping[str, Any], at: datetime | None
) -> None:
    finished = _finish(rollout, end_reason="compression")
    rollout.finished.append(finished)
    rollout.finished_messages += len(finished.messages)
    said = text(payload.get("message"))
    history = payload.get("replacement_history")
    if isinstance(history, list) and history:
        transcript = replaced_history(history, said, at)
    else:
        transcript = Transcript(kept_prompts(finished.messages))
        transcript.append(summary_message(said), at)
    rollout.transcript = transcript
    rollout.summary = bare_codex(said) or summary_in(transcript)
    rollout.began, rollout.usage = at, None


def _finish(rollout: _Rollout, *, end_reason: str = "") -> SourceSession:
    number = len(rollout.finished) + 1
    rollout.unknown.update(rollout.transcript.unknown)
    messages = rollout.transcript.finish()
    return session_of(
        messages,
        external_id=str(number),
        link=Link.IN_PLACE if number > 1 else Link.ROOT,
        model=rollout.model,
        system_prompt=_instructions(rollout.meta),
        started_at=rollout.began,
        end_reason=end_reason,
        usage_tokens=rollout.usage,
        summary=rollout.summary,
    )


def _instructions(meta: Mapping[str, Any]) -> str:
    base = mapping(meta.get("base_instructions")).get("text")
    return text(base) or text(meta.get("instructions"))


def _conversation(rollout: _Rollout, notes: tuple[str, ...]) -> SourceConversation:
    meta = rollout.meta
    first = rollout.finished[0].messages
    base = identifier(meta.get("id")) or opening_id(first)
    branch_of = identifier(meta.get("forked_from_id"))
    sessions = chain(
        replace(session, external_id=generation_id(base, number))
        for number, session in enumerate(rollout.finished, start=1)
    )
    if branch_of:
        sessions = (replace(sessions[0], link=Link.BRANCH), *sessions[1:])
    if rollout.aborted_turns:
        notes = (*notes, f"turn_aborted:{rollout.aborted_turns}")
    unknown = (f"unknown_items:{k}:{n}" for k, n in sorted(rollout.unknown.items()))
    return SourceConversation(
        source=FORMAT,
        external_id=base,
        title=rollout.title or title_of(first),
        agent=AGENT,
        model=rollout.model,
        window=rollout.window,
        sessions=sessions,
        todos=todos_from_calls(m.message for s in sessions for m in s.messages),
        notes=(*notes, *unknown),
        meta=_facts(meta, branch_of),
    )


def _facts(meta: Mapping[str, Any], branch_of: str) -> dict[str, str]:
    facts = {
        "version": meta.get("cli_version"),
        "cwd": meta.get("cwd"),
        "git_branch": mapping(meta.get("git")).get("branch"),
        "branch_of": branch_of,
    }
    return {key: label(value, 500) for key, value in facts.items() if value}
