"""Hooks that tests name by their dotted path."""

from __future__ import annotations

import threading
from typing import Any

called: list[Any] = []
released = threading.Event()


def remember(value: Any) -> None:
    """Keep what the hook was given."""
    called.append(value)


def fail(value: Any) -> None:
    """Break."""
    raise RuntimeError("the hook is broken")


def hang(value: Any) -> None:
    """Take far too long."""
    released.wait(60)
