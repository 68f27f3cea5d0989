"""Settings in, engine objects out: the only reader of settings besides hermes_web."""

from __future__ import annotations

import os
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from django.conf import settings

from compaction.adapters.embedded_summariser import EmbeddedSummariser
from compaction.adapters.openai_chat import OpenAIChat
from compaction.adapters.tiktoken_counter import token_counter_for
from compaction.engine.llm import ChatModel
from compaction.engine.phases.summary import RuleSummariser, Summariser
from compaction.engine.tokens import TokenCounter
from compaction.sources import SourceLimits, find_hermes_homes

EMBEDDED_WINDOW = 1_000_000
"""The embedded summariser reads messages one by one; tokens, for plans alone."""
OPENAI_URL = "https://api.openai.com/v1"
TURN_SECONDS = 6 * 3_600.0
"""How long one attempt at a turn may keep its lease alive."""


def get_counter(model: str) -> TokenCounter:
    """Return the best counter of tokens for a model, by the name it has in logs."""
    return token_counter_for(model, cache_dir=Path(settings.TIKTOKEN_CACHE_DIR))


def summariser_window() -> int:
    """Context length of the summariser in tokens; part of every plan's situation."""
    return settings.SUMMARISER_WINDOW if has_endpoint() else EMBEDDED_WINDOW


def has_endpoint() -> bool:
    """True when an operator named an endpoint; a key that lies around names none."""
    return bool(settings.SUMMARISER_BASE_URL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariserFacts:
    """Who writes summaries, for pages; `window` in tokens."""

    name: str
    window: int
    is_embedded: bool


def get_summariser() -> Summariser:
    """Return the configured endpoint, or the embedded summariser when there is none."""
    if not has_endpoint():
        return get_stand_in()
    return OpenAIChat(
        base_url=settings.SUMMARISER_BASE_URL,
        model=settings.SUMMARISER_MODEL,
        api_key=_api_key(),
        window=settings.SUMMARISER_WINDOW,
        timeout=settings.SUMMARISER_TIMEOUT,
    )


def get_stand_in() -> RuleSummariser:
    """Return the summariser that can neither fail nor cost."""
    return EmbeddedSummariser()


def describe_summariser() -> SummariserFacts:
    """Say who writes summaries, without asking or building anything."""
    is_embedded = not has_endpoint()
    return SummariserFacts(
        name="" if is_embedded else settings.SUMMARISER_MODEL,
        window=summariser_window(),
        is_embedded=is_embedded,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Money for a million tokens."""

    input: Decimal
    output: Decimal


def summariser_prices() -> Prices | None:
    """Return the configured prices, None unless both are set."""
    for_input, for_output = (
        settings.SUMMARISER_INPUT_PRICE,
        settings.SUMMARISER_OUTPUT_PRICE,
    )
    if for_input is None or for_output is None:
        return None
    return Prices(input=for_input, output=for_output)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSpec:
    """An endpoint that answers turns; `key_env` names the variable with its key.

    `window` in tokens, `timeout` in seconds for an answer, prices for a million
    tokens.
    """

    name: str
    base_url: str
    model: str
    window: int
    key_env: str = ""
    timeout: float = 300.0
    input_price: Decimal | None = None
    output_price: Decimal | None = None


def turn_endpoints() -> tuple[EndpointSpec, ...]:
    """Return the endpoints that answer turns, the primary first; none without any."""
    has_key = bool(os.environ.get(settings.OPENAI_API_KEY_ENV))
    if not (settings.OPENAI_BASE_URL or has_key):
        return ()
    return (
        EndpointSpec(
            name="environment",
            base_url=settings.OPENAI_BASE_URL or OPENAI_URL,
            model=settings.OPENAI_MODEL,
            window=settings.OPENAI_WINDOW,
            key_env=settings.OPENAI_API_KEY_ENV,
        ),
    )


def build_chat(spec: EndpointSpec) -> ChatModel:
    """Return the model behind an endpoint; its key is read now and kept nowhere."""
    return OpenAIChat(
        base_url=spec.base_url,
        model=spec.model,
        api_key=os.environ.get(spec.key_env) or None,
        window=spec.window,
        timeout=spec.timeout,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Dotted paths that are called around every compaction, and how long one may take.

    `seconds` is the time after which a hook is left behind.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    seconds: float


def compaction_hooks() -> Hooks:
    """Return the hooks of the settings."""
    return Hooks(
        before=tuple(settings.BEFORE_COMPACTION),
        after=tuple(settings.AFTER_COMPACTION),
        seconds=settings.COMPACTION_HOOK_SECONDS,
    )


def agent_folder() -> Path | None:
    """Return the folder whose files the agent may read, None when none is set."""
    return Path(settings.AGENT_FILES_DIR) if settings.AGENT_FILES_DIR else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseLimits:
    """How long a worker may be silent, how often a row is tried; seconds.

    `work_seconds` is how long one attempt may keep its lease alive: what hangs for
    longer is given to another worker.
    """

    lease_seconds: float
    max_attempts: int
    resend_seconds: float
    work_seconds: float


def lease_limits() -> LeaseLimits:
    """Return the limits of runs and imports."""
    lease = float(settings.RUN_LEASE_SECONDS)
    return LeaseLimits(
        lease_seconds=lease,
        max_attempts=settings.RUN_MAX_ATTEMPTS,
        resend_seconds=min(5.0, lease),
        work_seconds=max(1_800.0, 10 * settings.SUMMARISER_TIMEOUT),
    )


def turn_limits() -> LeaseLimits:
    """Return the limits of turns, which wait for providers and may take hours."""
    lease = float(settings.RUN_LEASE_SECONDS)
    return LeaseLimits(
        lease_seconds=lease,
        max_attempts=settings.RUN_MAX_ATTEMPTS,
        resend_seconds=min(5.0, lease),
        work_seconds=TURN_SECONDS,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadLimits:
    """Where uploaded files wait for a worker, and how large one may be in bytes."""

    folder: Path
    bytes: int


def upload_limits() -> UploadLimits:
    """Return the limits of uploads."""
    return UploadLimits(folder=settings.UPLOAD_DIR, bytes=settings.UPLOAD_BYTES)


def source_limits() -> SourceLimits:
    """Return how much of a foreign file is read before it is refused."""
    return SourceLimits()


def hermes_homes() -> tuple[Path, ...]:
    """Return the homes of a real Hermes Agent on this machine, unopened."""
    environ = {"HERMES_HOME": str(settings.HERMES_HOME)}
    return find_hermes_homes(environ, Path.home())


def _api_key() -> str | None:
    """Read the key at the moment it is needed; it is kept nowhere."""
    return os.environ.get(settings.SUMMARISER_API_KEY_ENV) or None
