"""Search within one conversation, and what of it is still in the window."""

from __future__ import annotations

from collections.abc import Sequence

from compaction.models import Conversation, Message
from compaction.store.search_index import find_messages
from compaction.store.search_words import Phrase

_FOUND = 200


def find_in_conversation(
    conversation: Conversation, phrases: Sequence[Phrase]
) -> list[Message]:
    """Return messages of a conversation that hold all phrases, the newest first.

    A message that went through several generations is found once, where it was
    written first.
    """
    found = find_messages(phrases, _FOUND, conversation_id=conversation.pk)
    rows = Message.objects.filter(pk__in=found, inactive=False)
    return list(rows.defer("body").order_by("-pk"))


def places_in_tip(conversation: Conversation) -> set[tuple[str, int]]:
    """Return (session, position) of all that the tip holds, back to where it began."""
    places: set[tuple[str, int]] = set()
    tip = Conversation.objects.get(pk=conversation.pk).tip_id  # it moves
    wanted = {tip: Message.objects.filter(session_id=tip)} if tip else {}
    while wanted:
        session_id, rows = wanted.popitem()
        columns = rows.values_list("position", "origin_session_id", "origin_position")
        origins: dict[str, list[int]] = {}
        for position, session, at in columns:
            places.add((session_id, position))
            if at is not None:
                origins.setdefault(session, []).append(at)
        for session, positions in origins.items():
            found = Message.objects.filter(session_id=session)
            wanted[session] = found.filter(position__in=positions)
    return places
