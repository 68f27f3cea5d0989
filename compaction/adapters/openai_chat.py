"""Any OpenAI-compatible endpoint as a ChatModel.

The library never retries (its retries would multiply with ours, hermes#55544), follows
no redirect, and is held to one deadline per call. Answers are streamed, so that a stall
is noticed and an operator sees the text come in.
"""

from __future__ import annotations

import contextlib
import ssl
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx2
import openai

from compaction.adapters.address_rules import AddressRule
from compaction.adapters.deadline import Clock, Deadline, watch
from compaction.adapters.guarded_transport import GuardedTransport
from compaction.adapters.openai_answer import AnswerBuilder, field_of, items_of
from compaction.adapters.openai_dialect import Dialect
from compaction.adapters.openai_errors import FAILURES, Translator
from compaction.engine.llm import (
    ChatRequest,
    Completion,
    ErrorKind,
    ModelError,
    OnChunk,
)

CONNECT_SECONDS = 10.0
_MOST_DIALECTS = 4


@dataclass(slots=True, kw_only=True)
class OpenAIChat:
    """One model behind one base URL; `window` in tokens, `timeout` in seconds.

    `timeout` limits a whole answer; a request's own, shorter one wins. `rule` says
    which addresses may be connected to. An instance may be used by several threads,
    and after a fork.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    window: int = 128_000
    timeout: float = 120.0
    rule: AddressRule = AddressRule.ANY
    clock: Clock = field(default=time.monotonic, repr=False)
    _dialect: Dialect = field(default_factory=Dialect, init=False, repr=False)

    @property
    def name(self) -> str:
        """The model's name, for operators."""
        return self.model

    def complete(
        self, request: ChatRequest, *, on_chunk: OnChunk | None = None
    ) -> Completion:
        """Answer one request; raises ModelError, and what `on_chunk` raises."""
        errors = Translator(api_key=self._key)
        missing = self._missing()
        if missing:
            raise errors.fail(ErrorKind.NO_PROVIDER, missing)
        started = self.clock()
        limit = min(self.timeout, request.timeout)
        deadline = Deadline(ends=started + limit, clock=self.clock)
        call = _Call(errors=errors, deadline=deadline, on_chunk=on_chunk)
        answer = self._ask(call, request)
        return answer.build(model=self.model, latency=self.clock() - started)

    def _missing(self) -> str:
        """Say what of the settings cannot be used, '' when all can."""
        if not (self.base_url.strip() and self.model.strip()):
            return "No endpoint or model is set"
        if not (self._key.isascii() and self._key.isprintable()):
            return "The API key holds characters that no header can hold"
        return ""

    @property
    def _key(self) -> str:
        return (self.api_key or "").strip()

    def _ask(self, call: _Call, request: ChatRequest) -> AnswerBuilder:
        """Ask in the known dialect, and in another when that is refused."""
        for _ in range(_MOST_DIALECTS):
            arguments = self._dialect.arguments(request) | {"model": self.model}
            try:
                with self._client(call) as client:
                    return call.run(client, arguments)
            except ModelError as refusal:
                other = self._dialect.adapt(refusal)
                if other is None:
                    raise
                self._dialect = other
        raise call.errors.fail(ErrorKind.GARBAGE, "The endpoint refuses every format")

    def _client(self, call: _Call) -> openai.OpenAI:
        try:
            http = httpx2.Client(
                timeout=call.timeout(),
                verify=_tls_context(),
                transport=_transport(self.rule),
                follow_redirects=False,
                event_hooks={"response": [watch(call.deadline)]},
            )
            client = openai.OpenAI(
                base_url=self.base_url.strip(),
                api_key=self._key or "no-key",
                max_retries=0,
                timeout=call.timeout(),
                http_client=http,
            )
        except FAILURES as error:
            raise call.errors.translate(error) from error
        client.organization = client.project = None  # the environment's, not theirs
        return client


def _transport(rule: AddressRule) -> httpx2.BaseTransport | None:
    """Return what connects; None leaves it to the library and proxies it knows."""
    if rule is AddressRule.ANY:
        return None
    return GuardedTransport(rule, verify=_tls_context())


@cache
def _tls_context() -> ssl.SSLContext:
    """Load the certificates once; that takes longer than asking a near server."""
    return httpx2.create_ssl_context()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One call on its way."""

    errors: Translator
    deadline: Deadline
    on_chunk: OnChunk | None

    def timeout(self) -> httpx2.Timeout:
        """Return the library's timeouts for what is left of the call."""
        left = max(0.001, self.deadline.remaining)
        return httpx2.Timeout(left, connect=min(CONNECT_SECONDS, left))

    def run(self, client: openai.OpenAI, arguments: dict[str, Any]) -> AnswerBuilder:
        """Ask once and read the whole answer."""
        answer = AnswerBuilder()
        with contextlib.closing(self._chunks(client, arguments, answer)) as chunks:
            for chunk in chunks:
                text = answer.add(chunk)
                if text and self.on_chunk is not None:
                    self.on_chunk(text)
        if answer.choices == 0:
            raise self.errors.fail(ErrorKind.GARBAGE, "The answer is empty")
        if answer.finish_reason is None:
            raise self.errors.fail(
                ErrorKind.CUT_STREAM,
                "The answer ended before the model said that it was done",
                answer.partial_text(),
            )
        return answer

    def _chunks(
        self, client: openai.OpenAI, arguments: dict[str, Any], answer: AnswerBuilder
    ) -> Generator[object, None, None]:
        create: Any = client.chat.completions.with_streaming_response.create
        answering = False
        try:
            with create(**arguments) as response:
                answering = True
                yield from self._read(response, streamed="stream" in arguments)
        except FAILURES as error:
            raise self.errors.translate(
                error, answering=answering, partial=answer.partial_text()
            ) from error

    def _read(self, response: Any, *, streamed: bool) -> Iterator[object]:
        """Yield the chunks of a stream, or the one object of a plain answer."""
        kind = response.headers.get("content-type", "").lower()
        if "json" in kind:
            yield self._whole(response.json())
        elif "html" in kind or not streamed:
            text = response.text()
            message = f"The answer is no chat answer but {kind or 'of no known type'}"
            raise self.errors.fail(ErrorKind.GARBAGE, message, text)
        else:
            yield from response.parse()

    def _whole(self, answer: object) -> object:
        """Check an answer that came in one piece; it is complete, so it is finished."""
        if field_of(answer, "error"):
            raise self.errors.told(field_of(answer, "error"), str(answer))
        if not items_of(field_of(answer, "choices")):
            message = "The answer holds no choices"
            raise self.errors.fail(ErrorKind.GARBAGE, message, str(answer))
        return answer
