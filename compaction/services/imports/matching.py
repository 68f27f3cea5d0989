"""What is new in a foreign conversation, compared with what we hold of it.

The rule: what the foreign log says now is mirrored; what it no longer says, and
whatever we made beside it, stays as it is (docs/decisions, growing imports).

- A session we do not hold is added.
- A session that goes on where ours ends gets the new messages.
- A session whose past reads otherwise, or in which we wrote ourselves, is not
  touched: the foreign version becomes a branch of it from the first difference on.
- A shorter version of what we hold is an older copy of the file: nothing to do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from compaction.engine.messages import Message
from compaction.sources.values import SourceConversation, SourceSession
from compaction.store.texts import id_for_column


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A session we hold of a foreign conversation.

    `digests` of the mirrored messages in order; `own_tail`: messages of our own
    follow them; `inactive` the positions that are rewound; `tokens` of all messages.
    """

    pk: str
    key: tuple[str, int]
    revision: int
    digests: Sequence[str]
    tokens: int = 0
    own_tail: bool = False
    inactive: frozenset[int] = frozenset()


class Fate(StrEnum):
    """What an import does with one foreign session."""

    SAME = "same"
    NEW = "new"
    GROWN = "grown"
    BRANCHED = "branched"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One foreign session beside ours.

    `shared` is how many messages both begin with; `held` is None for a new one.
    """

    session: SourceSession
    digests: Sequence[str]
    fate: Fate
    held: Held | None = None
    shared: int = 0

    @property
    def is_rewound(self) -> bool:
        """True when the agent took messages back, or brought them back, since."""
        if self.held is None or self.fate is Fate.BRANCHED:
            return False
        now = {i for i, m in enumerate(self.session.messages) if m.inactive}
        shared = min(self.shared, len(self.session.messages))
        before = {i for i in self.held.inactive if i < shared}
        return before != {i for i in now if i < shared}


def match_sessions(
    conversation: SourceConversation, held: Sequence[Held]
) -> tuple[Match, ...]:
    """Match every foreign session with ours, in the order of the log."""
    by_key: dict[tuple[str, int], list[Held]] = {}
    for session in held:
        by_key.setdefault(session.key, []).append(session)
    return tuple(_match(session, by_key) for session in conversation.sessions)


def key_of(session: SourceSession) -> tuple[str, int]:
    """What a foreign session is known by."""
    return id_for_column(session.external_id), session.generation


def _match(
    session: SourceSession, by_key: Mapping[tuple[str, int], list[Held]]
) -> Match:
    digests = tuple(digest_of_message(item.message) for item in session.messages)
    versions = by_key.get(key_of(session), [])
    if not versions:
        return Match(session=session, digests=digests, fate=Fate.NEW)
    # Of several versions the one that agrees longest; of equals the newest.
    shared, _, held = max(
        (_common(version.digests, digests), number, version)
        for number, version in enumerate(versions)
    )
    fate = _fate(held, len(digests), shared)
    return Match(session=session, digests=digests, fate=fate, held=held, shared=shared)


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    pairs = enumerate(zip(ours, theirs, strict=False))
    differing = (i for i, (mine, other) in pairs if mine != other)
    return next(differing, min(len(ours), len(theirs)))


def _fate(held: Held, length: int, shared: int) -> Fate:
    if shared == length:
        return Fate.SAME
    if shared < len(held.digests) or held.own_tail:
        return Fate.BRANCHED
    return Fate.GROWN


def digest_of_message(message: Message) -> str:
    """A fingerprint of what was said, whatever marks we set beside it."""
    parts = [
        message.role.value,
        _content_text(message.content),
        message.tool_call_id or "",
        message.carried_summary or "",
    ]
    for call in message.tool_calls:
        parts += (call.id, call.name, call.arguments)
    # With the lengths in front no two lists of parts give the same text.
    text = "\0".join([",".join([str(len(part)) for part in parts]), *parts])
    raw = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def _content_text(content: object) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return json.dumps(content, sort_keys=True, default=str)
