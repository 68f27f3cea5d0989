"""What can go wrong with a call, in our words: every failure is a ModelError."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx2
import openai

from compaction.adapters.guarded_transport import AddressNotAllowed
from compaction.adapters.openai_answer import field_of
from compaction.engine.llm import ErrorKind, ModelError
from compaction.engine.phases.redaction import redact

BODY_CHARS = 2_000
FORBIDDEN = "address_not_allowed"
"""The code of an error that says so; no provider sent it."""
_KEPT_HEADERS = ("retry-after", "retry-after-ms", "x-request-id", "content-type")
_KEPT_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-")

FAILURES: tuple[type[Exception], ...] = (
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.StreamError,
    ValueError,  # JSON and text that cannot be decoded, in a chunk or in an answer
    TypeError,
    AttributeError,
    LookupError,
    OSError,
)
"""What the library may raise for a bad answer. Anything else is not the answer's
fault (a worker's time limit, for one) and passes through."""

_TIMEOUTS = (openai.APITimeoutError, httpx2.TimeoutException)
_LOST = (openai.APIConnectionError, httpx2.TransportError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Translator:
    """Turns exceptions into ModelErrors; `api_key` never appears in one."""

    api_key: str = ""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def translate(
        self, error: Exception, *, answering: bool = False, partial: str = ""
    ) -> ModelError:
        """Return our error; `answering` is True once an answer had begun."""
        if isinstance(error, openai.APIStatusError):
            return self._refusal(error)
        if isinstance(error, _TIMEOUTS):
            return self.fail(ErrorKind.TIMEOUT, "The model took too long", partial)
        if isinstance(error, _LOST):
            return self._lost(error, answering=answering, partial=partial)
        if isinstance(error, httpx2.InvalidURL):
            message = f"The base URL cannot be used: {error}"
            return self.fail(ErrorKind.NO_PROVIDER, message)
        return self._unreadable(error, partial)

    def fail(self, kind: ErrorKind, message: str, body: str = "") -> ModelError:
        """Return an error without an HTTP status."""
        return ModelError(kind=kind, message=self.clean(message), body=self.clean(body))

    def clean(self, text: str) -> str:
        """Clip a text and mask its secrets."""
        clipped = text[: 4 * BODY_CHARS]
        if len(self.api_key) >= 6:
            clipped = clipped.replace(self.api_key, "[redacted]")
        return redact(clipped)[:BODY_CHARS]

    def _refusal(self, error: openai.APIStatusError) -> ModelError:
        response = error.response
        return ModelError(
            kind=ErrorKind.STATUS,
            message=self.clean(_message_of(error.body) or _phrase(error.status_code)),
            status=error.status_code,
            code=_code_of(error.body),
            retry_after=read_retry_after(response.headers, self.now()),
            body=self.clean(_text_of(response)),
            headers=self._headers(response.headers),
        )

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            name.lower(): self.clean(value)[:200]
            for name, value in headers.items()
            if name.lower() in _KEPT_HEADERS or name.lower().startswith(_KEPT_PREFIXES)
        }

    def _lost(self, error: Exception, *, answering: bool, partial: str) -> ModelError:
        cause = str(error.__cause__ or error)
        if isinstance(error.__cause__, AddressNotAllowed):
            return self._forbidden(cause)
        if answering:
            message = f"The answer broke off: {cause}"
            return self.fail(ErrorKind.CUT_STREAM, message, partial)
        return self.fail(ErrorKind.CONNECTION, f"The model cannot be reached: {cause}")

    def _forbidden(self, cause: str) -> ModelError:
        """Nothing was sent: the host leads where the endpoint may not reach."""
        message = f"The address is not allowed: {cause}"
        return ModelError(
            kind=ErrorKind.NO_PROVIDER, message=self.clean(message), code=FORBIDDEN
        )

    def told(self, raw: object, body: str = "", otherwise: str = "") -> ModelError:
        """Return the error that an answer holds instead of choices."""
        code = _code_of(raw)
        number = int(code) if code and code.isdigit() else 0
        return ModelError(
            kind=ErrorKind.STATUS,
            message=self.clean(_message_of(raw) or otherwise),
            status=number if 400 <= number <= 599 else None,
            code=code,
            body=self.clean(body),
        )

    def _unreadable(self, error: Exception, partial: str) -> ModelError:
        """Read an error told inside an answer; whatever else it is, it is garbage."""
        body = error.body if isinstance(error, openai.APIError) else None
        if body and not isinstance(error, openai.APIResponseValidationError):
            return self.told(body, partial or str(body), str(error))
        document = error.doc if isinstance(error, json.JSONDecodeError) else partial
        message = f"The answer cannot be read: {error}"
        return self.fail(ErrorKind.GARBAGE, message, document)


def _message_of(body: object) -> str:
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body
    for name in ("message", "detail", "error", "msg"):
        value = field_of(body, name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, Mapping) and value:
            return _message_of(value)
    return ""


def _code_of(body: object) -> str | None:
    for name in ("code", "type"):
        value = field_of(body, name)
        if isinstance(value, str | int) and not isinstance(value, bool) and value:
            return str(value)
    nested = field_of(body, "error")
    return _code_of(nested) if isinstance(nested, Mapping) else None


def _phrase(status: int) -> str:
    try:
        return f"The provider answered {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"The provider answered {status}"


def _text_of(response: httpx2.Response) -> str:
    try:
        return response.text
    except httpx2.StreamError:
        return ""


def read_retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds a provider asks to wait: milliseconds, seconds or a date."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1_000)
        return max(0.0, float(headers["retry-after"]))
    except KeyError:
        return None
    except ValueError:
        return _seconds_until(headers.get("retry-after", ""), now)


def _seconds_until(date: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
