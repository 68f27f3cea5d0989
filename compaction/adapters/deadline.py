"""One limit over a whole answer, however slowly it drips in.

A client's timeouts run from one packet to the next, so a server that sends a comment
every second is never too slow for them. Here the body of a response ends when the time
of the whole call is over, also in the middle of a read.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx2

MOST_BYTES = 64 * 1024 * 1024
"""A body that is larger than this is no answer."""

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """A moment on a monotonic clock, in seconds."""

    ends: float
    clock: Clock = time.monotonic

    @property
    def remaining(self) -> float:
        """Seconds that are left, not below zero."""
        return max(0.0, self.ends - self.clock())

    @property
    def passed(self) -> bool:
        """True when no time is left."""
        return self.remaining == 0.0


class TooLarge(ValueError):
    """The body of an answer is larger than MOST_BYTES."""


class TimedStream(httpx2.SyncByteStream):
    """A response's body that raises ReadTimeout once the deadline has passed."""

    def __init__(self, response: httpx2.Response, deadline: Deadline) -> None:
        self._inner = response.stream
        self._deadline = deadline
        connection = response.extensions.get("network_stream")
        self._socket = connection.get_extra_info("socket") if connection else None
        self._watchdog = threading.Timer(deadline.remaining, self._hang_up)
        self._watchdog.daemon = True

    def __iter__(self) -> Iterator[bytes]:
        self._watchdog.start()
        try:
            yield from self._pieces()
        except (httpx2.TransportError, OSError, ValueError) as error:
            if self._deadline.passed:
                raise httpx2.ReadTimeout("the answer took too long") from error
            raise
        finally:
            self._watchdog.cancel()

    def _pieces(self) -> Iterator[bytes]:
        assert isinstance(self._inner, httpx2.SyncByteStream)
        size = 0
        for piece in self._inner:
            size += len(piece)
            if size > MOST_BYTES:
                raise TooLarge(f"the answer is larger than {MOST_BYTES:,} bytes")
            self._check()
            yield piece
        self._check()

    def _check(self) -> None:
        if self._deadline.passed:
            raise httpx2.ReadTimeout("the answer took too long")

    def _hang_up(self) -> None:
        """Wake the reader: a shut socket has nothing more to say."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the connection back, and stop watching it."""
        self._watchdog.cancel()
        assert isinstance(self._inner, httpx2.SyncByteStream)
        self._inner.close()


def watch(deadline: Deadline) -> Callable[[httpx2.Response], None]:
    """Return a response hook that holds every body to the deadline."""

    def hold(response: httpx2.Response) -> None:
        response.stream = TimedStream(response, deadline)

    return hold
