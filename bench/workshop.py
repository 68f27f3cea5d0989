"""What rows share: sizes, inputs, the peer, a folder."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench.inputs import Conversation, Shape
from bench.peer import REQUIREMENT, Peer

KEPT = Path(__file__).resolve().parent.parent / "var" / "bench"
"""Where the peer's environment stays between two runs; git ignores it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How large and how often: counts of what the names say.

    `shapes` are the conversations by their letter, `runs` how often each side of a row
    is measured, `turns` how many a session has, `repeats` how often a short step is
    done for one figure, `hostile_chars` the length of a hostile text.
    """

    shapes: Mapping[str, Shape]
    runs: int
    turns: int
    repeats: int
    hostile_chars: int
    import_messages: int
    sessions: tuple[int, int]
    page_messages: int
    requests: int


FULL = Sizes(
    shapes={
        "S": Shape(messages=1_000, chars=200),
        "M": Shape(messages=10_000, chars=200),
        "L": Shape(messages=100_000, chars=200),
        "W": Shape(messages=10_000, chars=2_000),
    },
    runs=5,
    turns=2_000,
    repeats=200,
    hostile_chars=20_000,
    import_messages=100_000,
    sessions=(1_000, 100_000),
    page_messages=10_000,
    requests=200,
)
QUICK = Sizes(
    shapes={
        "S": Shape(messages=40, chars=200),
        "M": Shape(messages=80, chars=200),
        "L": Shape(messages=160, chars=200),
        "W": Shape(messages=80, chars=2_000),
    },
    runs=1,
    turns=40,
    repeats=2,
    hostile_chars=400,
    import_messages=60,
    sessions=(60, 120),
    page_messages=120,
    requests=3,
)


class Workshop:
    """Everything a row needs; used as a context, so that nothing is left behind."""

    def __init__(self, *, is_quick: bool, kept: Path = KEPT) -> None:
        self.is_quick = is_quick
        self.sizes = QUICK if is_quick else FULL
        self.peer = Peer(kept / REQUIREMENT, may_install=not is_quick)
        self._scratch = tempfile.TemporaryDirectory(prefix="bench-")
        self._conversations: dict[str, Conversation] = {}

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, *_: object) -> None:
        self.peer.close()
        self._scratch.cleanup()

    @cached_property
    def folder(self) -> Path:
        """A folder that is removed at the end."""
        return Path(self._scratch.name)

    def conversation(self, letter: str) -> Conversation:
        """Return the input of that letter, always the same one.

        It is frozen out of garbage collection: what it weighs is nobody's cost.
        """
        if letter not in self._conversations:
            made = Conversation(
                self.sizes.shapes[letter], self.folder / f"{letter}.json"
            )
            assert made.messages  # made now
            gc.collect()
            gc.freeze()
            self._conversations[letter] = made
        return self._conversations[letter]
