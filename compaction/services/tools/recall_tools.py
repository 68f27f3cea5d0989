"""Reading back what was compacted away: nothing that was cut is out of reach.

Both tools see the sessions of the agent's own conversation and no other. Secrets are
redacted: the agent has no tool that could use one, and the result goes to a provider.
"""

from __future__ import annotations

from compaction.engine.phases.redaction import redact
from compaction.engine.tools import ToolMistake
from compaction.models import Conversation, Message
from compaction.store.lineage_search import find_in_conversation, places_in_tip
from compaction.store.search_words import read_query

RECALL_TOKENS = 4_000
"""Hard cap of what one recall returns."""
_MOST = 20
_BEFORE, _AFTER = 80, 240  # characters of a snippet around its hit
_MESSAGE_CHARS = 12_000


def recall_search(conversation: Conversation, *, query: str, limit: int = 8) -> str:
    """Find places of earlier messages, newest first; none that is in the window."""
    phrases = read_query(query)
    if not phrases:
        raise ToolMistake("The query holds no word to search for.")
    limit = max(1, min(_MOST, limit))
    present = places_in_tip(conversation)
    found: list[str] = []
    for row in find_in_conversation(conversation, phrases):
        if (row.session_id, row.position) in present:
            continue
        snippet = _snippet(row, phrases[0].words[0])
        found.append(f"{_place(row)} {row.role}: {snippet}")
        if len(found) == limit:
            break
    if not found:
        return "Nothing that was compacted away holds these words."
    return "\n".join(found)


def _place(row: Message) -> str:
    return f"[{row.session_id}:{row.position}]"


def _snippet(row: Message, word: str) -> str:
    text = row.text or " ".join(f"{call[1]} {call[2]}" for call in row.calls)
    at = max(0, text.casefold().find(word))
    start = max(0, at - _BEFORE)
    piece = " ".join(redact(text[start : at + _AFTER]).split())
    return f"{'…' if start else ''}{piece}{'…' if at + _AFTER < len(text) else ''}"


def recall_read(conversation: Conversation, *, place: str, count: int = 1) -> str:
    """Read messages from a place on."""
    session_id, _, number = place.strip().strip("[]").rpartition(":")
    if not session_id or not number.isdecimal() or len(number) > 9:
        raise ToolMistake("A place looks like the ones that recall_search returns.")
    rows = Message.objects.filter(
        session_id=session_id,
        session__conversation=conversation,
        position__gte=int(number),
        inactive=False,
    ).order_by("position")
    texts = [_write(row) for row in rows[: max(1, min(_MOST, count))]]
    if not texts:
        raise ToolMistake("There is no such place in this conversation.")
    return "\n\n".join(texts)


def _write(row: Message) -> str:
    text = redact(row.text[:_MESSAGE_CHARS])
    if len(row.text) > _MESSAGE_CHARS:
        text += "\n[cut here: the message is longer]"
    calls = [redact(f"→ {call[1]} {call[2]}") for call in row.calls]
    head = f"{_place(row)} {row.role}"
    return "\n".join([head, *([text] if text else []), *calls])
