"""The numbers of one message, computed once when it is written and stored beside it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from compaction.engine.messages import Kind, Message, Role, ToolCall
from compaction.engine.phases.shortening import pruned_message
from compaction.engine.tokens import TokenCounter, count_message


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """The numbers of one message.

    `tokens` as counted, `pruned_tokens` what it would cost once shortened (the same
    where nothing can be shortened), `chars` of the text, `args_chars` of the call
    arguments, `digest` of the text (equal results are equal digests).
    """

    role: Role
    kind: Kind = Kind.PLAIN
    tokens: int = 0
    pruned_tokens: int = 0
    chars: int = 0
    args_chars: int = 0
    images: int = 0
    has_text: bool = False
    call_ids: tuple[str, ...] = ()
    result_id: str | None = None
    pinned: bool = False
    dropped: bool = False
    digest: str = ""

    @property
    def is_system(self) -> bool:
        """True for system and developer messages."""
        return self.role is Role.SYSTEM or self.role is Role.DEVELOPER

    @property
    def is_result(self) -> bool:
        """True for tool results."""
        return self.role is Role.TOOL or self.role is Role.FUNCTION

    @property
    def saving(self) -> int:
        """Tokens that shortening this message frees."""
        return self.tokens - self.pruned_tokens


def facts_of(
    message: Message, counter: TokenCounter, *, call: ToolCall | None = None
) -> MessageFacts:
    """Measure one message; `call` is the call that it answers, if any."""
    tokens = pruned_tokens = count_message(message, counter)
    shorter = pruned_message(message, call=call)
    if shorter is not message:
        pruned_tokens = min(tokens, count_message(shorter, counter))
    text = message.text
    return MessageFacts(
        role=message.role,
        kind=message.kind,
        tokens=tokens,
        pruned_tokens=pruned_tokens,
        chars=len(text),
        args_chars=sum([len(call.arguments) for call in message.tool_calls]),
        images=message.image_count,
        has_text=bool(text.strip()),
        call_ids=message.call_ids,
        result_id=message.tool_call_id,
        pinned=message.pinned,
        dropped=message.dropped,
        digest=digest_of(text) if message.is_result else "",
    )


def digest_of(text: str) -> str:
    """A short content hash; equal texts have equal digests."""
    raw = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=16).hexdigest()
