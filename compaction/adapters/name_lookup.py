"""Looking a name up, for no longer than somebody wants to wait."""

from __future__ import annotations

import socket
import threading
from queue import Empty, Queue

from compaction.adapters.address_rules import Resolve


def resolve_within(seconds: float) -> Resolve:
    """Return a resolver that asks the machine's, and gives up after a time.

    It raises OSError for a name that is not known, TimeoutError (an OSError too) when
    no answer came: the system's own limit can be far longer, and cannot be set.
    """

    def resolve(host: str, port: int) -> list[str]:
        answer: Queue[list[str] | Exception] = Queue()
        asking = (answer, host, port)
        threading.Thread(target=_ask_resolver, args=asking, daemon=True).start()
        try:
            found = answer.get(timeout=seconds)
        except Empty:
            raise TimeoutError(f"no answer in {seconds:g} s") from None
        if isinstance(found, Exception):
            raise found
        return found

    return resolve


def _ask_resolver(answer: Queue[list[str] | Exception], host: str, port: int) -> None:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        answer.put(error)
    else:
        names = (str(address[0]) for *_kind, address in found)
        answer.put(list(dict.fromkeys(names)))
