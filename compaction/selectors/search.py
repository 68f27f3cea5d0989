"""Search in titles, ids and message texts, with snippets; bounded, newest first.

At most `SCANNED` matching messages are looked at, so that a common word costs no
more than a rare one; the answer says when there are more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q
from django.db.models.functions import Substr

from compaction.engine.phases.redaction import redact
from compaction.models import Conversation, Message, Session
from compaction.store.search_index import find_messages
from compaction.store.search_words import INDEXED_CHARS, Phrase, read_query
from compaction.store.texts import readable

SCANNED = 1_000
_TITLES = 200
_BEFORE = 60  # characters of a snippet before the first hit
_AROUND = 1_000  # characters on each side of it that are read for secrets
_WIDTH = 220  # characters of a whole snippet
_ID = re.compile(r"[\w-]{6,}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found; `conversation_ids` newest hit first, titles before texts.

    `messages` maps a conversation to its newest matching message, `counts` to how
    many were seen. `is_truncated`: there are more than `SCANNED` matching messages.
    """

    query: str
    phrases: tuple[Phrase, ...] = ()
    conversation_ids: tuple[int, ...] = ()
    messages: Mapping[int, int]
    counts: Mapping[int, int]
    is_truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a snippet; hostile text, to be escaped as always."""

    text: str
    is_hit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """Where a conversation's newest hit stands, and the text around it."""

    session_id: str
    position: int
    role: str
    pieces: tuple[Piece, ...]
    count: int


def search_conversations(query: str) -> Found:
    """Search; an empty or wordless query finds nothing, no query is an error."""
    phrases = read_query(query)
    hits = find_messages(phrases, SCANNED + 1) if phrases else []
    owners = _owners(hits[:SCANNED])
    messages: dict[int, int] = {}
    counts: dict[int, int] = {}
    for pk in filter(owners.__contains__, hits[:SCANNED]):
        messages.setdefault(owners[pk], pk)
        counts[owners[pk]] = counts.get(owners[pk], 0) + 1
    named = _named(readable(query.strip()[:200]))
    return Found(
        query=query,
        phrases=phrases,
        conversation_ids=tuple(dict.fromkeys([*named, *messages])),
        messages=messages,
        counts=counts,
        is_truncated=len(hits) > SCANNED,
    )


def _owners(message_ids: Sequence[int]) -> dict[int, int]:
    rows = Message.objects.filter(pk__in=message_ids)
    return dict(rows.values_list("pk", "session__conversation_id"))


def _named(text: str) -> list[int]:
    """Conversations whose title holds the text, or one of whose ids begins with it."""
    if not text:
        return []
    wanted = Q(title__icontains=text)
    if _ID.fullmatch(text):
        begins = Q(pk__startswith=text) | Q(external_id__startswith=text)
        sessions = Session.objects.filter(begins).values("conversation_id")[:_TITLES]
        wanted |= Q(external_id__startswith=text) | Q(pk__in=sessions)
    found = Conversation.objects.filter(wanted).order_by("-active_at", "-pk")
    return list(found.values_list("pk", flat=True)[:_TITLES])


def snippets_for(
    found: Found, conversation_ids: Iterable[int]
) -> Mapping[int, Snippet]:
    """Return the snippets of those conversations that have a matching message."""
    wanted = {found.messages[pk]: pk for pk in conversation_ids if pk in found.messages}
    rows = Message.objects.filter(pk__in=wanted)
    columns = rows.values_list(
        "pk", "session_id", "position", "role", Substr("text", 1, INDEXED_CHARS)
    )
    return {
        wanted[pk]: Snippet(
            session_id=session_id,
            position=position,
            role=role,
            pieces=cut_snippet(text, found.phrases),
            count=found.counts[wanted[pk]],
        )
        for pk, session_id, position, role, text in columns
    }


def cut_snippet(text: str, phrases: Sequence[Phrase]) -> tuple[Piece, ...]:
    """Cut the surroundings of the first hit out of a text and mark every hit in it.

    A hit that only the index sees (an accent, a call's arguments) is not marked.
    Secrets are masked, so a search for one says where it stands and shows no more.
    """
    pattern = _pattern_of(phrases)
    hit = pattern.search(text) if pattern else None
    at = hit.start() if hit else 0
    begin, end = max(0, at - _AROUND), at + _AROUND
    shown = redact(text[begin:end])
    first = pattern.search(shown) if pattern else None
    start = max(0, (first.start() if first else at - begin) - _BEFORE)
    window = " ".join(shown[start : start + _WIDTH].split())
    opening = [Piece(text="…")] if begin + start else []
    closing = [Piece(text="…")] if max(end, begin + start + _WIDTH) < len(text) else []
    return (*opening, *_marked(window, pattern), *closing)


def _marked(window: str, pattern: re.Pattern[str] | None) -> Iterable[Piece]:
    end = 0
    for hit in pattern.finditer(window) if pattern else ():
        if hit.start() > end:
            yield Piece(text=window[end : hit.start()])
        yield Piece(text=hit.group(), is_hit=True)
        end = hit.end()
    if window[end:]:
        yield Piece(text=window[end:])


def _pattern_of(phrases: Sequence[Phrase]) -> re.Pattern[str] | None:
    if not phrases:
        return None
    written = (r"[\W_]{0,8}".join(map(re.escape, p.words)) for p in phrases)
    return re.compile("|".join(written), re.IGNORECASE)
