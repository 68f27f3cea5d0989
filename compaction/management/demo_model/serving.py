"""The demo model behind real HTTP: POST /v1/chat/completions, GET /v1/models."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from compaction.management.demo_model.answers import (
    Answer,
    Refusal,
    Usage,
    chunks,
    whole,
)
from compaction.management.demo_model.model import DemoModel

MODELS = ("demo", "demo-small")
_MOST_BYTES = 64 * 2**20


class DemoServer(ThreadingHTTPServer):
    """Serves the demo model on this machine alone; `pace` seconds before each chunk."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, model: DemoModel, *, port: int = 0, pace: float = 0.0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.model = model
        self.pace = pace

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hung up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: DemoServer

    def log_message(self, format: str, *args: Any) -> None:
        """Leave the terminal to the command's own lines."""

    def do_GET(self) -> None:
        """List the models."""
        models = [{"id": name, "object": "model"} for name in MODELS]
        self._send(200, {"object": "list", "data": models})

    def do_POST(self) -> None:
        """Answer one chat request."""
        body = self._read()
        if body is None or not self.path.rstrip("/").endswith("/chat/completions"):
            refusal = Refusal(status=404, message="Not found", code="not_found")
            self._send(refusal.status, refusal.json)
            return
        given, usage = self.server.model.answer(body)
        with contextlib.suppress(ConnectionError):
            self._give(given, usage, body)

    def _read(self) -> Mapping[str, Any] | None:
        try:
            length = int(self.headers.get("Content-Length") or 0)
            if not 0 < length <= _MOST_BYTES:
                return None
            body = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError):
            return None
        return body if isinstance(body, dict) else None

    def _give(
        self, given: Answer | Refusal, usage: Usage, body: Mapping[str, Any]
    ) -> None:
        model = str(body.get("model") or MODELS[0])
        if isinstance(given, Refusal):
            self._send(given.status, given.json, given.headers)
        elif body.get("stream"):
            options = body.get("stream_options")
            wants_usage = isinstance(options, dict) and options.get("include_usage")
            self._stream(given, model, usage if wants_usage else None)
        else:
            self._send(200, whole(given, model, usage))

    def _send(
        self, status: int, value: Any, headers: Mapping[str, str] | None = None
    ) -> None:
        payload = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(payload)

    def _stream(self, answer: Answer, model: str, usage: Usage | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, chunk in enumerate(chunks(answer, model, usage)):
            if number == answer.cut_after:
                self.close_connection = True
                return  # in the middle: the chunked body never ends
            time.sleep(self.server.pace)
            self._write(f"data: {json.dumps(chunk)}\n\n")
        self._write("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _write(self, text: str) -> None:
        raw = text.encode()
        self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
        self.wfile.flush()
