"""An error of a model becomes a decision: a pure function over tables.

The order of the stages is here, the wordings are in `patterns`, the remedies in
`reasons`. A status says what happened, the words refine it: a 429 may be a tier, a
400 an overflow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from compaction.engine.llm import ErrorKind, ModelError
from compaction.engine.recovery import patterns
from compaction.engine.recovery.reasons import REMEDIES, Decision, Reason

Stages = tuple[tuple[Reason, patterns.Patterns], ...]
"""Reasons with their wordings, in the order in which they are looked for."""

_BY_KIND = {
    ErrorKind.TIMEOUT: Reason.TIMEOUT,
    ErrorKind.CONNECTION: Reason.CONNECTION,
    ErrorKind.CUT_STREAM: Reason.CUT_STREAM,
    ErrorKind.GARBAGE: Reason.BROKEN_RESPONSE,
    ErrorKind.NO_PROVIDER: Reason.NO_PROVIDER,
}


def classify(error: ModelError) -> Decision:
    """Decide what helps against an error (article 003's four paths and more)."""
    words = _words(error)
    reason = _find_reason(error, words)
    remedy = REMEDIES[reason]
    return Decision(
        reason=reason,
        retryable=remedy.retry,
        should_compact=remedy.compact,
        should_fallback=remedy.fallback,
        should_shrink_output=remedy.shrink_output,
        stated_window=_stated_window(words) if remedy.compact else None,
        stated_output=_stated_output(words) if remedy.shrink_output else None,
        retry_after=error.retry_after,
    )


def _words(error: ModelError) -> str:
    parts = (error.code or "", error.message, error.body)
    return " ".join(parts)[:4_000].lower()


def _find_reason(error: ModelError, words: str) -> Reason:
    if error.status is None:
        return _without_status(error, words)
    if error.status == 429:
        return _rate_limited(words)
    if error.status == 413:
        return Reason.PAYLOAD_TOO_LARGE
    worded = _by_words(error.status, words)
    if worded is not None:
        return worded
    return _by_status(error.status)


def _without_status(error: ModelError, words: str) -> Reason:
    if _has(words, patterns.CERTIFICATE):
        return Reason.CERTIFICATE
    worded = _size_reason(words)
    if worded is not None:
        return worded
    if error.kind in _BY_KIND:
        return _BY_KIND[error.kind]
    return Reason.TIMEOUT if _has(words, patterns.TIMEOUT) else Reason.UNKNOWN


def _rate_limited(words: str) -> Reason:
    """A 429 that is no rate limit: a context tier, a used-up account, a full house."""
    if _has(words, patterns.LONG_CONTEXT) and _has(words, patterns.EXTRA_USAGE):
        return Reason.LONG_CONTEXT_TIER
    if _has(words, patterns.BILLING) and not _has(words, patterns.TRANSIENT):
        return Reason.BILLING
    if _has(words, patterns.OVERLOADED):
        return Reason.OVERLOADED
    upstream = "upstream" in words or "provider returned error" in words
    return Reason.UPSTREAM_RATE_LIMIT if upstream else Reason.RATE_LIMIT


def _by_words(status: int, words: str) -> Reason | None:
    stages = _STAGES_5XX if status >= 500 else _STAGES_4XX
    if status in (401, 403):
        stages = _STAGES_AUTH
    if status not in (401, 402, 403, 404):
        sized = _size_reason(words)
        if sized is not None:
            return sized
    for reason, wordings in stages:
        if _has(words, wordings):
            return _unless_transient(status, reason, words)
    return None


def _unless_transient(status: int, reason: Reason, words: str) -> Reason:
    if reason is Reason.BILLING and status != 402 and _has(words, patterns.TRANSIENT):
        return Reason.RATE_LIMIT
    return reason


_STAGES_4XX: Stages = (
    (Reason.PROVIDER_POLICY, patterns.PROVIDER_POLICY),
    (Reason.BILLING, patterns.BILLING),
    (Reason.MODEL_NOT_FOUND, patterns.MODEL),
    (Reason.RATE_LIMIT, patterns.RATE),
    (Reason.AUTH, patterns.AUTH),
    (Reason.CONTENT_POLICY, patterns.CONTENT_POLICY),
    (Reason.OVERLOADED, patterns.OVERLOADED),
)
_STAGES_AUTH: Stages = (
    (Reason.BILLING, patterns.BILLING),
    (Reason.MODEL_NOT_FOUND, patterns.MODEL),
    (Reason.CONTENT_POLICY, patterns.CONTENT_POLICY),
)
_STAGES_5XX: Stages = (
    (Reason.OVERLOADED, patterns.OVERLOADED),
    (Reason.RATE_LIMIT, patterns.RATE),
)


def _size_reason(words: str) -> Reason | None:
    """Output cap before context: its wording often names the context as well."""
    if _has(words, patterns.IMAGE):
        return Reason.IMAGE_TOO_LARGE
    if _has(words, patterns.OUTPUT_CAP) and not _is_prompt_too_long(words):
        return Reason.OUTPUT_CAP
    if _has(words, patterns.CONTEXT_OVERFLOW):
        return Reason.CONTEXT_OVERFLOW
    return Reason.PAYLOAD_TOO_LARGE if _has(words, patterns.PAYLOAD) else None


def _is_prompt_too_long(words: str) -> bool:
    markers = ("prompt", "messages resulted", "input", "context_length_exceeded")
    return _has(words, markers) and _has(words, patterns.CONTEXT_OVERFLOW)


def _by_status(status: int) -> Reason:
    known = patterns.BY_STATUS.get(status)
    if known is not None:
        return known
    if status >= 500:
        return Reason.SERVER_ERROR
    return Reason.FORMAT_ERROR if 400 <= status < 500 else Reason.UNKNOWN


def _has(words: str, wordings: Iterable[str]) -> bool:
    return any(wording in words for wording in wordings)


_NUMBER = r"(\d{1,3}(?:,\d{3})+|\d{4,8})"
_WINDOW = re.compile(
    r"(?:maximum context length (?:is|of)|context (?:length|window|size)(?: is| of)?|"
    r"max_model_len[^\d]{0,20}|n_ctx[^\d]{0,20}|limit (?:is|of)|maximum(?: is| of)?|"
    r"最大长度|上下文长度|>)[^\d]{0,20}" + _NUMBER
)
_OUTPUT = re.compile(
    r"(?:at most|<=|less than or equal to|(?:maximum|limit)[^\d:]{0,40}|"
    r"range[^\d]{0,20}1,) ?" + _NUMBER
)


def _stated_window(words: str) -> int | None:
    return _number(_WINDOW.search(words))


def _stated_output(words: str) -> int | None:
    return _number(_OUTPUT.search(words))


def _number(match: re.Match[str] | None) -> int | None:
    return int(match.group(1).replace(",", "")) if match else None
