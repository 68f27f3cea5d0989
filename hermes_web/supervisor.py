"""Keep a few child processes alive until told to stop.

`run_console` starts the web server and the worker through this. A child that
dies is started again, but not for ever; a stop ends every child, politely
first. Children live in sessions of their own, so that Ctrl-C reaches the
supervisor alone, and on Linux they are ended when the supervisor is killed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

Say = Callable[[str], None]

_TICK = 0.1  # seconds between two looks at the children
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class ChildKeepsDying(Exception):
    """A child died more often than the allowance; the rest was stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How often a child may be started again within a period (seconds)."""

    restarts: int = 5
    period: float = 60.0


@dataclass(slots=True, kw_only=True)
class Child:
    """A command that is to stay alive, with the name an operator reads."""

    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    deaths: deque[float] = field(default_factory=deque)

    def start(self, environ: Mapping[str, str] | None = None) -> None:
        """Start the command in a session of its own."""
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            env=None if environ is None else dict(environ),
            start_new_session=True,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )

    def lives(self) -> bool:
        """Tell whether the command was started and has not ended."""
        return self.process is not None and self.process.poll() is None

    def exit_status(self) -> int | None:
        """Return the status of a child that ended, None while it lives."""
        return None if self.process is None else self.process.poll()

    def note_death(self, now: float, period: float) -> int:
        """Remember a death; return how many fell into the last `period` seconds."""
        self.deaths.append(now)
        while now - self.deaths[0] > period:
            self.deaths.popleft()
        return len(self.deaths)

    def signal(self, number: int) -> None:
        """Send a signal to the child and to what it started itself."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return

    def end_now(self) -> None:
        """Leave nothing of the child behind, its own children included."""
        self.signal(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class Supervisor:
    """Start children, restart the dead, call back at each tick, stop all."""

    def __init__(
        self,
        children: Sequence[Child],
        say: Say,
        *,
        allowance: Allowance | None = None,
        environ: Mapping[str, str] | None = None,
        grace: float = 10.0,
    ) -> None:
        """`grace`: seconds between the polite and the forced end of a child."""
        self.children = children
        self.say = say
        self.allowance = allowance or Allowance()
        self.environ = environ
        self.grace = grace
        self._asked = _Asked()

    def run(self, on_tick: Callable[[], None] | None = None) -> None:
        """Start all, watch until SIGINT or SIGTERM; then, or on a failure, stop all.

        Raises ChildKeepsDying when a child used up its allowance.
        """
        with self._asked.listening():
            try:
                for child in self.children:
                    child.start(self.environ)
                while not self._asked.to_stop:
                    self._look_after_children()
                    if on_tick is not None:
                        on_tick()
                    time.sleep(_TICK)
            finally:
                self._stop()

    def _stop(self) -> None:
        for child in self.children:
            child.signal(signal.SIGTERM)
        deadline = time.monotonic() + self.grace
        while self._living() and time.monotonic() < deadline and not self._asked.again:
            time.sleep(_TICK)
        for child in self._living():
            self.say(
                f"The {child.name} did not end in time and was stopped. A run it was "
                "working on is taken up again after the next start."
            )
        for child in self.children:
            child.end_now()

    def _living(self) -> list[Child]:
        return [child for child in self.children if child.lives()]

    def _look_after_children(self) -> None:
        for child in self.children:
            if not child.lives():
                self._revive(child)

    def _revive(self, child: Child) -> None:
        status = child.exit_status()
        deaths = child.note_death(time.monotonic(), self.allowance.period)
        if deaths > self.allowance.restarts:
            raise ChildKeepsDying(
                f"The {child.name} ended {deaths} times within "
                f"{self.allowance.period:.0f} seconds (status {status}), so everything "
                "was stopped. Its last words are above."
            )
        self.say(
            f"The {child.name} ended unexpectedly (status {status}) and is started "
            f"again ({deaths} of {self.allowance.restarts})."
        )
        child.start(self.environ)


class _Asked:
    """What an operator asked by signals: to stop, and to stop at once.

    One press can arrive twice, from the terminal and from make, so only a
    signal a second after the first counts as another.
    """

    def __init__(self) -> None:
        self.to_stop = False
        self.again = False
        self._first = 0.0

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take SIGINT and SIGTERM while the block runs."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._note) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        if not self.to_stop:
            self.to_stop, self._first = True, time.monotonic()
        elif time.monotonic() - self._first > 1.0:
            self.again = True
