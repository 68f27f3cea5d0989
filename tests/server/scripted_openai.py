"""A real HTTP server that speaks the OpenAI chat format and plays a script.

In a test:

    server = ScriptedOpenAI().start()
    server.play(NAMED["429"], Reply(text="fine"))   # one answer per request
    ... OpenAIChat(base_url=server.base_url, ...) ...
    server.requests[0].body["messages"]

As a process of its own, for tests with a real worker or by hand:

    python -m tests.server.scripted_openai --port 8931 --play 429 ok --then echo

Over HTTP: POST /script with {"play": [...], "then": ...} and GET /requests.
"""

from __future__ import annotations

import argparse
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any, Self

from tests.server.handler import ScriptedHandler
from tests.server.replies import NAMED, Answer, Failure, from_dict

Script = Answer | Callable[[Mapping[str, Any]], Answer]
"""An answer, or a function from the request's body to one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One request as it arrived; the names of headers in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] = field(default_factory=dict)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    owner: ScriptedOpenAI

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet: clients of these tests hang up on purpose."""


class ScriptedOpenAI:
    """The server; `play` queues answers, `then` is what follows when none is left."""

    def __init__(self, *, port: int = 0, then: Script = NAMED["ok"]) -> None:
        self.then = then
        self.requests: list[Recorded] = []
        self.released = threading.Event()  # ends every stall
        self._queue: deque[Script] = deque()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), ScriptedHandler)
        self._server.owner = self
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def play(self, *scripts: Script | str) -> Self:
        """Queue answers, one per request; a string is a name of NAMED."""
        with self._lock:
            self._queue.extend(_named(script) for script in scripts)
        return self

    def always(self, script: Script | str) -> Self:
        """Answer every request like this from now on."""
        with self._lock:
            self._queue.clear()
            self.then = _named(script)
        return self

    def reset(self) -> None:
        """Forget requests and script; end stalls that still run."""
        self.released.set()
        with self._lock:
            self.requests.clear()
            self._queue.clear()
            self.then = NAMED["ok"]
        self.released = threading.Event()

    def start(self) -> Self:
        """Serve from a background thread."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )
        self._thread.start()
        return self

    def stop(self) -> None:
        """End stalls, the thread and the socket."""
        self.released.set()
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def serve_forever(self) -> None:
        """Serve in this thread until interrupted."""
        self._server.serve_forever()

    def record(
        self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]
    ) -> Answer:
        """Note a request and return the answer that is due for it."""
        with self._lock:
            self.requests.append(Recorded(path=path, headers=headers, body=body))
            script = self._take(body)
        return script(body) if callable(script) else script

    def load(self, raw: Mapping[str, Any]) -> None:
        """Apply a script that came as JSON: `play` is a list, `then` one answer."""
        if raw.get("reset"):
            self.reset()
        if "then" in raw:
            self.always(from_dict(raw["then"]))
        self.play(*(from_dict(item) for item in raw.get("play", ())))

    def _take(self, body: Mapping[str, Any]) -> Script:
        if not self._queue:
            return self.then
        script = self._queue[0]
        unmet = isinstance(script, Failure) and script.unless_absent
        if unmet and unmet not in body:
            self._queue.popleft()
            return self._take(body)
        return self._queue.popleft()


def _named(script: Script | str) -> Script:
    return NAMED[script] if isinstance(script, str) else script


def main(arguments: list[str] | None = None) -> None:
    """Run as a process; prints the base URL as its first line."""
    parser = argparse.ArgumentParser(description="Scripted OpenAI-compatible server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--play", nargs="*", default=[], choices=sorted(NAMED))
    parser.add_argument("--then", default="ok", choices=sorted(NAMED))
    parser.add_argument("--script", help="JSON as POST /script takes it")
    options = parser.parse_args(arguments)
    server = ScriptedOpenAI(port=options.port, then=NAMED[options.then])
    server.play(*options.play)
    if options.script:
        server.load(json.loads(options.script))
    print(server.base_url, flush=True)  # noqa: T201
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.stop()


if __name__ == "__main__":
    main()
