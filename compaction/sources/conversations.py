"""Putting sessions together: ids, titles, chains and verbatim copies."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from compaction.engine.evidence.reading import words_of_person
from compaction.engine.messages import Kind, Message, Role, to_dict
from compaction.engine.phases.redaction import redact
from compaction.sources.fields import digest, label
from compaction.sources.values import (
    SourceConversation,
    SourceMessage,
    SourceSession,
)


def single(session: SourceSession, *, source: str, **facts: Any) -> SourceConversation:
    """Make a conversation of one session, with its id, title and model."""
    return SourceConversation(
        source=source,
        external_id=session.external_id,
        title=facts.pop("title", "") or session.title or title_of(session.messages),
        model=facts.pop("model", "") or session.model,
        sessions=(session,),
        **facts,
    )


def chain(sessions: Iterable[SourceSession]) -> tuple[SourceSession, ...]:
    """Number the generations, hang each on the one before, trace verbatim copies."""
    linked: list[SourceSession] = []
    for position, session in enumerate(sessions):
        parent = linked[-1] if linked else None
        messages = session.messages
        if parent is not None:
            messages = trace_copies(messages, parent.messages)
        linked.append(
            replace(
                session,
                generation=position + 1,
                parent=position - 1 if position else None,
                messages=messages,
            )
        )
    return tuple(linked)


def title_of(messages: Sequence[SourceMessage]) -> str:
    """Take the first words of a person as title, else the first line of a program."""
    opening = ""
    for item in messages:
        message = item.message
        if message.role is not Role.USER or message.kind is not Kind.PLAIN:
            continue
        text = _UPLOADS.sub("", message.text[:20_000])
        title = _first_words(words_of_person(text))
        if title:
            return title
        opening = opening or _first_words(text)
    return opening


def _first_words(text: str) -> str:
    """Return the first line that says something, with the next when it ends in ":"."""
    said = (_PICTURES.sub("", line).strip() for line in text.splitlines())
    lines = (line[:1_000] for line in said if line and not _is_command(line))
    first = next(lines, "")
    if first.endswith((":", "：")):
        first = f"{first} {next(lines, '')}"
    return label(redact(first), 80)


_UPLOADS = re.compile(r"\A\s{0,8}<uploaded_files>[^<]{0,4000}</uploaded_files>")
_PICTURES = re.compile(r"\A(?:\s{0,8}\[image[^\]\n]{0,200}\]){1,20}", re.IGNORECASE)
"""Labels that stand for pictures at the beginning of a line."""


def _is_command(line: str) -> bool:
    return line.startswith("<") or (line.startswith("/") and " " not in line)


def opening_id(messages: Sequence[SourceMessage], *facts: object) -> str:
    """Name a conversation whose log has no id, by how it begins.

    Everything up to the first answer is the name, so that a grown file keeps it and
    two runs of one task do not share it.
    """
    opening: list[object] = []
    for item in messages:
        opening.append(to_dict(item.message))
        if item.message.role is Role.ASSISTANT:
            break
    return digest(json.dumps([opening, *facts], sort_keys=True, default=str))


def session_of(
    messages: Sequence[SourceMessage], *, external_id: str, **facts: Any
) -> SourceSession:
    """Make a session whose times and newest prompt size come from its messages."""
    times = [item.at for item in messages if item.at]
    used = [item.usage_tokens for item in messages if item.usage_tokens]
    facts.setdefault("started_at", min(times, default=None))
    facts.setdefault("ended_at", max(times, default=None))
    facts.setdefault("usage_tokens", used[-1] if used else None)
    return SourceSession(external_id=external_id, messages=tuple(messages), **facts)


class UniqueIds:
    """Keeps ids of one file apart: the second use of an id gets `-2`, and so on."""

    def __init__(self) -> None:
        self._uses: defaultdict[str, int] = defaultdict(int)

    def claim(self, wanted: str) -> str:
        """Return the id to use for the next conversation that wants this one."""
        self._uses[wanted] += 1
        uses = self._uses[wanted]
        return wanted if uses == 1 else f"{wanted}-{uses}"


def generation_id(base: str, generation: int) -> str:
    """Name a generation that has no id of its own; the first keeps the log's id."""
    return base if generation == 1 else f"{base}@{generation}"


def trace_copies(
    messages: Sequence[SourceMessage], parent: Sequence[SourceMessage]
) -> tuple[SourceMessage, ...]:
    """Set `origin` on the messages that are verbatim copies of the parent's.

    Copies keep their order, so the search only ever moves forward; where a text
    occurs more than once, the place whose successor matches too is taken.
    """
    keys = [_key(item.message) for item in messages]
    parent_keys = [_key(item.message) for item in parent]
    places: defaultdict[object, list[int]] = defaultdict(list)
    for position in reversed(range(len(parent_keys))):
        places[parent_keys[position]].append(position)  # nearest place last
    traced: list[SourceMessage] = []
    last = -1
    for index, item in enumerate(messages):
        open_places = places.get(keys[index])
        while open_places and open_places[-1] <= last:
            open_places.pop()
        if not open_places or item.message.kind is Kind.SUMMARY:
            traced.append(item)
            continue
        following = keys[index + 1] if index + 1 < len(keys) else None
        last = _best_place(open_places, parent_keys, following)
        traced.append(replace(item, origin=last))
    return tuple(traced)


def _best_place(
    places: Sequence[int], parent_keys: Sequence[object], following: object
) -> int:
    for place in places[:-9:-1]:  # the nearest eight
        if place + 1 < len(parent_keys) and parent_keys[place + 1] == following:
            return place
    return places[-1]


def _key(message: Message) -> object:
    content = message.content
    if content is not None and not isinstance(content, str):
        content = json.dumps(content, sort_keys=True, default=str)
    calls = tuple((call.id, call.name, call.arguments) for call in message.tool_calls)
    return message.role, content, message.tool_call_id, calls, message.carried_summary
