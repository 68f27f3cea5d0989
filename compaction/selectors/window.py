"""What the window of a session is filled with, and who says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compaction.models import Session
from compaction.selectors.plans import Picture
from compaction.selectors.sessions import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The window bar: parts in the order of the prompt, tokens.

    `tokens` is the best number there is: the provider's for the newest call plus what
    came after it, else our own count, which is also the sum of the parts. `error` is
    how far our count was from the provider's, as a ratio of the provider's.
    """

    parts: tuple[Part, ...]
    counted: int
    tokens: int
    limit: int
    threshold: int
    origin: str
    measured_at: int | None = None
    error: float | None = None

    @property
    def fill(self) -> float:
        """Share of the window that is in use."""
        return self.tokens / self.limit


def window_of(session: Session, picture: Picture) -> Window:
    """Return what the window is filled with, from numbers alone."""
    parts = tuple(part for part in _parts(session, picture) if part.tokens)
    counted = sum(part.tokens for part in parts)
    provider, position = session.provider_tokens, session.provider_position
    if provider is None or position is None:
        tokens, origin, error = counted, session.tokens_origin, None
    else:
        since = picture.outline.tokens_between(
            min(max(position, 0), len(picture)), len(picture)
        )
        tokens, origin = provider + since, "provider"
        error = (counted - since - provider) / provider if provider else None
    return Window(
        parts=parts,
        counted=counted,
        tokens=tokens,
        limit=picture.plan.policy.context_length,
        threshold=picture.plan.threshold,
        origin=origin,
        measured_at=position,
        error=error,
    )


def _parts(session: Session, picture: Picture) -> Iterator[Part]:
    spent = picture.spent
    fixed = picture.plan.situation.fixed_tokens
    task = max(0, fixed - session.system_tokens - session.tools_tokens)
    yield Part(kind="system", tokens=session.system_tokens + spent.get("system", 0))
    yield Part(kind="tools", tokens=session.tools_tokens)
    yield Part(kind="task", tokens=task)
    for kind in ("summary", "head", "kept", "middle", "tail"):
        yield Part(kind=kind, tokens=spent.get(kind, 0))
