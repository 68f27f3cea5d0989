"""What is around the console on its machine: hooks, folders, agents' homes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from compaction.sources import find_hermes_homes


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Dotted paths that are called around every compaction, and how long one may take.

    `seconds` is the time after which a hook is left behind.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    seconds: float


def compaction_hooks() -> Hooks:
    """Return the hooks of the settings."""
    return Hooks(
        before=tuple(settings.BEFORE_COMPACTION),
        after=tuple(settings.AFTER_COMPACTION),
        seconds=settings.COMPACTION_HOOK_SECONDS,
    )


def agent_folder() -> Path | None:
    """Return the folder whose files the agent may read, None when none is set."""
    return Path(settings.AGENT_FILES_DIR) if settings.AGENT_FILES_DIR else None


def hermes_homes() -> tuple[Path, ...]:
    """Return the homes of a real Hermes Agent on this machine, unopened."""
    environ = {"HERMES_HOME": str(settings.HERMES_HOME)}
    return find_hermes_homes(environ, Path.home())
