"""Messages that come one by one: each in constant time, however long the session is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F

from compaction.engine.messages import Message as EngineMessage
from compaction.engine.tokens import TokenCounter
from compaction.models import Conversation, Session
from compaction.store.message_rows import NewMessage
from compaction.store.messages import Measured, measured_so_far, save_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class RealUsage:
    """What the provider counted for a request: tokens, and of how many messages."""

    tokens: int
    position: int


class Appender:
    """Appends to one session that nobody else appends to.

    It remembers where the session ends, so nothing is read again. When a transaction
    of `append` is rolled back, `reload` before the next one.
    """

    def __init__(self, session: Session, counter: TokenCounter) -> None:
        self.session = session
        self._counter = counter
        self._usage: RealUsage | None = None
        self.reload()

    @property
    def position(self) -> int:
        """Where the next message goes."""
        return self._measured.position

    def reload(self) -> None:
        """Read anew where the session ends."""
        self._measured: Measured = measured_so_far(self.session, self._counter)
        self._counted_at_usage = 0

    def append(
        self, message: EngineMessage, *, at: datetime, usage: RealUsage | None = None
    ) -> int:
        """Write a message, with the sizes of its session and conversation; its place.

        `usage` is that of the request which this message answers. Call it in a
        transaction.
        """
        position, before = self.position, self._measured.tokens
        row = self._measured.row(NewMessage(message=message, at=at))
        save_rows(self.session, [row])
        self._measured.facts.clear()  # nobody plans from here
        if usage is not None:
            self._usage, self._counted_at_usage = usage, before
        self._note_sizes(at)
        return position

    def _note_sizes(self, at: datetime) -> None:
        measured = self._measured
        provider: dict[str, Any] = {}
        if self._usage is not None:
            provider = {
                "provider_tokens": self._usage.tokens,
                "provider_position": self._usage.position,
            }
        Session.objects.filter(pk=self.session.pk).update(
            message_count=measured.position,
            tokens=measured.tokens,
            tokens_origin=self._counter.origin.value,
            encoding=self._counter.name[:32],
            revision=F("revision") + 1,
            **provider,
        )
        Conversation.objects.filter(pk=self.session.conversation_id).update(
            message_count=measured.position,
            active_at=at,
            **self._window_columns(),
        )

    def _window_columns(self) -> dict[str, Any]:
        """How full the window is, by the provider's number where there is one."""
        if self._usage is None:
            return {}
        since = self._measured.tokens - self._counted_at_usage
        tokens = self._usage.tokens + since
        window = self.session.conversation.window
        return {
            "tokens": tokens,
            "tokens_origin": "provider",
            "fill": tokens / window if window else 0.0,
        }
