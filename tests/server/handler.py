"""How the scripted server puts its answers on the wire, faults included."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from itertools import islice
from typing import TYPE_CHECKING, Any

from tests.server import wire
from tests.server.replies import HTML, Answer, Broken, Failure, Reply

if TYPE_CHECKING:
    from tests.server.scripted_openai import ScriptedOpenAI


class ScriptedHandler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    @property
    def owner(self) -> ScriptedOpenAI:
        """The server that holds the script."""
        return self.server.owner  # type: ignore[attr-defined,no-any-return]

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""

    def do_GET(self) -> None:
        """Serve the list of models, and what was asked so far."""
        if self.path == "/requests":
            seen = [{"path": r.path, "body": r.body} for r in self.owner.requests]
            self._send_json(200, seen)
        else:
            self._send_json(200, {"object": "list", "data": [{"id": "scripted"}]})

    def do_POST(self) -> None:
        """Answer one chat request by the script."""
        body = self._read_body()
        if self.path == "/script":
            self.owner.load(body)
            self._send_json(200, {"ok": True})
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.owner.record(self.path, headers, body)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._answer(answer, body)

    def _read_body(self) -> Mapping[str, Any]:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parsed = json.loads(raw or b"{}")
        return parsed if isinstance(parsed, dict) else {}

    def _answer(self, answer: Answer, body: Mapping[str, Any]) -> None:
        if isinstance(answer, Failure):
            self._send(
                answer.status,
                wire.failure_body(answer),
                answer.content_type,
                answer.headers,
            )
        elif isinstance(answer, Broken):
            getattr(self, f"_play_{answer.how}")(answer, body)
        elif body.get("stream"):
            self._open_stream()
            self._stream(wire.chunks(answer, body), answer.delay)
            self._end_stream()
        else:
            self._wait(answer.delay)
            self._send_json(200, wire.whole(answer, body))

    # whole answers

    def _send_json(self, status: int, value: Any) -> None:
        self._send(status, json.dumps(value).encode(), "application/json")

    def _send(
        self,
        status: int,
        payload: bytes,
        content_type: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(payload)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    # streams

    def _open_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _stream(self, chunks: Iterator[Mapping[str, Any]], delay: float = 0) -> None:
        for chunk in chunks:
            self._wait(delay)
            self._write(f"data: {json.dumps(chunk)}\n\n")

    def _write(self, text: str) -> None:
        raw = text.encode()
        self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
        self.wfile.flush()

    def _end_stream(self, *, last: str = "data: [DONE]\n\n") -> None:
        if last:
            self._write(last)
        self.wfile.write(b"0\r\n\r\n")

    def _wait(self, seconds: float) -> None:
        if seconds:
            self.owner.released.wait(seconds)

    def _drop(self) -> None:
        """Reset the connection, as a crashed server does."""
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True
        os.close(self.connection.detach())

    # the ways to break, named as in BROKEN_HOW

    def _begin(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._open_stream()
        reply = Reply(text=broken.text, piece=broken.piece)
        self._stream(islice(wire.chunks(reply, body), broken.after + 1))

    def _play_stall(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._wait(broken.seconds)
        self._drop()

    def _play_stall_stream(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._begin(broken, body)
        self._wait(broken.seconds)
        self._drop()

    def _play_drip(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._begin(broken, body)
        for _ in range(int(broken.seconds / 0.05)):
            self._wait(0.05)
            self._write(": still here\n\n")
            if self.owner.released.is_set():
                break
        self._drop()

    def _play_drop(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._drop()

    def _play_cut(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._begin(broken, body)
        self._drop()

    def _play_cut_clean(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._begin(broken, body)
        self._end_stream(last="")

    def _play_corrupt(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._begin(broken, body)
        self._write('data: {"choices": [{"delta": {"content": "half a chu\n\n')
        self._end_stream()

    def _play_error_event(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._begin(broken, body)
        error = {"message": "Upstream provider failed", "code": 502}
        self._write(f"data: {json.dumps({'error': error})}\n\n")
        self._end_stream()

    def _play_html(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._send(200, HTML.encode(), "text/html; charset=utf-8")

    def _play_not_json(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._send(200, b'{"choices": [', "application/json")

    def _play_no_choices(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._send_json(200, {"id": "chatcmpl-scripted", "object": "chat.completion"})

    def _play_empty(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._send(200, b"", "text/event-stream")

    def _play_plain_json(self, broken: Broken, body: Mapping[str, Any]) -> None:
        self._send_json(200, wire.whole(Reply(text=broken.text), body))
