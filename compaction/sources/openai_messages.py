"""OpenAI chat messages: a list, a request, a request log, one message per line.

A log of requests repeats the whole conversation in each; requests that only add to
the one before are read as one conversation, the last of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from compaction.engine.messages import Message, text_of
from compaction.sources.conversations import (
    UniqueIds,
    opening_id,
    session_of,
    single,
)
from compaction.sources.fields import (
    count,
    identifier,
    instant,
    label,
    listing,
    mapping,
    text,
)
from compaction.sources.openai_shape import (
    is_message,
    is_message_list,
    prompt_tokens,
    read_message,
    read_messages,
    tools_of,
)
from compaction.sources.sample import Sample
from compaction.sources.summary_markers import find_summary, label_summary
from compaction.sources.task_lists import todos_from_calls
from compaction.sources.values import SourceConversation, SourceMessage, SourceSession

FORMAT = "openai_messages"

_WRAPPERS = ("request", "body", "data", "kwargs")
_ID_KEYS = ("conversation_id", "session_id", "thread_id", "custom_id", "id")


def matches(sample: Sample) -> bool:
    """Say whether a file holds chat messages or requests of chat messages."""
    if sample.document is not None and is_message_list(sample.document):
        return True
    first = sample.records[0] if sample.records else sample.document
    return _is_line_message(first) or _request_of(first) is not None


def _is_line_message(value: object) -> bool:
    return (
        is_message(value) and {"content", "tool_calls"} & mapping(value).keys() > set()
    )


def _request_of(value: object) -> Mapping[str, Any] | None:
    fields = mapping(value)
    for candidate in (fields, *(mapping(fields.get(key)) for key in _WRAPPERS)):
        if is_message_list(candidate.get("messages")):
            return candidate
    return None


def read(sample: Sample) -> Iterator[SourceConversation]:
    """Read one conversation after the other."""
    if isinstance(sample.document, list):
        yield _from_request({"messages": sample.document}, sample, UniqueIds(), None)
    elif sample.records and _is_line_message(sample.records[0]):
        yield _from_message_lines(sample)
    elif sample.records:
        yield from _from_requests(sample)
    else:
        yield _from_request(mapping(sample.document), sample, UniqueIds(), None)


def _from_message_lines(sample: Sample) -> SourceConversation:
    messages: list[SourceMessage] = []
    lines = sample.lines()
    for line, record in lines:
        sample.check_count(len(messages) + 1)
        try:
            message = label_summary(read_message(record))
        except ValueError as exc:
            raise sample.failure(str(exc), line=line) from None
        at = instant(record.get("timestamp") or record.get("created_at"))
        messages.append(SourceMessage(message=message, at=at))
    session = _session({}, tuple(messages), opening_id(messages))
    return _conversation({}, session, notes=tuple(lines.notes))


def _from_requests(sample: Sample) -> Iterator[SourceConversation]:
    ids = UniqueIds()
    pending: tuple[int, Mapping[str, Any], list[object]] | None = None
    lines = sample.lines()
    for line, record in lines:
        request = _request_of(record)
        if request is None:
            raise sample.failure("no list of messages", line=line)
        keys = [_key(raw) for raw in request["messages"]]
        if pending is not None and keys[: len(pending[2])] != pending[2]:
            yield _from_request(pending[1], sample, ids, pending[0])
        pending = (line, record, keys)
    if pending is not None:
        last = _from_request(pending[1], sample, ids, pending[0])
        yield replace(last, notes=(*last.notes, *lines.notes))


def _key(raw: object) -> object:
    """Compare messages by what was said (cache marks move from request to request)."""
    fields = mapping(raw)
    calls = tuple(
        identifier(mapping(call).get("id"))
        for call in listing(fields.get("tool_calls"))
    )
    said = text_of(fields.get("content"))
    return text(fields.get("role")), said, calls, identifier(fields.get("tool_call_id"))


def _from_request(
    record: Mapping[str, Any], sample: Sample, ids: UniqueIds, line: int | None
) -> SourceConversation:
    request = mapping(_request_of(record))
    response = mapping(record.get("response"))
    response = mapping(response.get("body")) or response
    try:
        sample.check_count(len(listing(request.get("messages"))))
        messages = (*read_messages(request.get("messages")), *_answers(response))
    except ValueError as exc:
        raise sample.failure(str(exc), line=line) from None
    messages = tuple(
        replace(item, message=label_summary(item.message)) for item in messages
    )
    named = next((identifier(record.get(k)) for k in _ID_KEYS if record.get(k)), "")
    facts = {**mapping(request.get("kwargs")), **_filled(record), **_filled(request)}
    session = _session(facts, messages, ids.claim(named or opening_id(messages)))
    return _conversation(facts, session, response=response)


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _answers(response: Mapping[str, Any]) -> tuple[SourceMessage, ...]:
    choices = listing(response.get("choices"))
    raw = mapping(choices[0]).get("message") if choices else None
    if not is_message(raw):
        return ()
    at = instant(response.get("created"))
    usage = prompt_tokens(response.get("usage"))
    return (SourceMessage(message=read_message(raw), at=at, usage_tokens=usage),)


def _session(
    facts: Mapping[str, Any], messages: tuple[SourceMessage, ...], external_id: str
) -> SourceSession:
    times = [item.at for item in messages if item.at]
    at = instant(facts.get("timestamp") or facts.get("created_at"))
    return session_of(
        messages,
        external_id=external_id,
        title=label(facts.get("title")),
        model=label(facts.get("model"), 128),
        tools=tools_of(facts.get("tools")),
        started_at=min(times, default=at),
        ended_at=max(times, default=at),
        summary=_summary([item.message for item in messages]),
    )


def _summary(messages: list[Message]) -> str:
    for message in reversed(messages):
        if message.carried_summary is not None:
            return message.carried_summary
        found = find_summary(message.content)
        if found is not None:
            return found.summary
    return ""


def _conversation(
    facts: Mapping[str, Any],
    session: SourceSession,
    *,
    response: Mapping[str, Any] | None = None,
    notes: tuple[str, ...] = (),
) -> SourceConversation:
    return single(
        session,
        source=FORMAT,
        model=session.model or label(mapping(response).get("model"), 128),
        agent=label(facts.get("agent"), 128),
        window=count(facts.get("context_window")) or None,
        todos=todos_from_calls(item.message for item in session.messages),
        notes=notes,
    )
