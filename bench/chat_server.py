"""A chat endpoint on 127.0.0.1 that streams one long answer as fast as it can.

    python -m bench.chat_server

Prints its base URL. Nothing is computed for an answer, so a client's own work shows.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PIECES = 1_000


_HEAD = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
_SPENT = {"prompt_tokens": 100, "completion_tokens": PIECES, "total_tokens": 1_100}


def _event(**values: Any) -> bytes:
    return b"data: " + json.dumps(_HEAD | values).encode() + b"\n\n"


def _chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    return _event(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])


ANSWER = b"".join(
    [
        *(_chunk({"content": f"word{n} "}) for n in range(PIECES)),
        _chunk({}, "stop"),
        _event(choices=[], usage=_SPENT),
        b"data: [DONE]\n\n",
    ]
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""


def main() -> None:
    """Serve until the process is ended."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
