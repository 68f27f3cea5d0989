"""The reasons a call can fail for, and the decision each leads to (data)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """What kind of error it is (article 003, widened by Hermes 0.19)."""

    RATE_LIMIT = "rate_limit"
    UPSTREAM_RATE_LIMIT = "upstream_rate_limit"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    CUT_STREAM = "cut_stream"
    BROKEN_RESPONSE = "broken_response"
    AUTH = "auth"
    BILLING = "billing"
    MODEL_NOT_FOUND = "model_not_found"
    CONTEXT_OVERFLOW = "context_overflow"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    LONG_CONTEXT_TIER = "long_context_tier"
    OUTPUT_CAP = "output_cap"
    IMAGE_TOO_LARGE = "image_too_large"
    CONTENT_POLICY = "content_policy"
    PROVIDER_POLICY = "provider_policy"
    CERTIFICATE = "certificate"
    FORMAT_ERROR = "format_error"
    NO_PROVIDER = "no_provider"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What helps against an error; nothing is done here, only decided.

    `stated_window` is the context length the provider named, in tokens, if it did;
    `stated_output` the largest answer it allows; `retry_after` is in seconds.
    """

    reason: Reason
    retryable: bool = False
    should_compact: bool = False
    should_fallback: bool = False
    should_shrink_output: bool = False
    stated_window: int | None = None
    stated_output: int | None = None
    retry_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """The flags of a reason: retry, compact, fall back, lower max_tokens once."""

    retry: bool = False
    compact: bool = False
    fallback: bool = False
    shrink_output: bool = False


_RETRY = Remedy(retry=True)
_COMPACT = Remedy(retry=True, compact=True)
_FALLBACK = Remedy(fallback=True)
_NOTHING = Remedy()

REMEDIES: Mapping[Reason, Remedy] = {
    Reason.RATE_LIMIT: Remedy(retry=True, fallback=True),
    Reason.UPSTREAM_RATE_LIMIT: Remedy(retry=True, fallback=True),
    Reason.OVERLOADED: _RETRY,
    Reason.SERVER_ERROR: _RETRY,
    Reason.TIMEOUT: _RETRY,
    Reason.CONNECTION: _RETRY,
    Reason.CUT_STREAM: _RETRY,
    Reason.BROKEN_RESPONSE: _RETRY,
    Reason.AUTH: _FALLBACK,
    Reason.BILLING: _FALLBACK,
    Reason.MODEL_NOT_FOUND: _FALLBACK,
    Reason.CONTEXT_OVERFLOW: _COMPACT,
    Reason.PAYLOAD_TOO_LARGE: _COMPACT,
    Reason.LONG_CONTEXT_TIER: _COMPACT,
    Reason.OUTPUT_CAP: Remedy(retry=True, shrink_output=True),
    Reason.IMAGE_TOO_LARGE: _COMPACT,
    Reason.CONTENT_POLICY: _FALLBACK,
    Reason.PROVIDER_POLICY: _NOTHING,
    Reason.CERTIFICATE: _NOTHING,
    Reason.FORMAT_ERROR: _FALLBACK,
    Reason.NO_PROVIDER: _FALLBACK,
    Reason.UNKNOWN: _NOTHING,
}
"""What helps against each reason. Article 003: an unknown error helps nothing."""
