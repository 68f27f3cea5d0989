"""Who writes summaries."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.adapters.embedded_summariser import EmbeddedSummariser
from compaction.engine.phases.summary import RuleSummariser, Summariser
from compaction.wiring.endpoints import (
    EndpointSpec,
    Prices,
    build_chat,
    environment_endpoint,
    environment_summaries,
    stored_endpoints,
    to_spec,
)

EMBEDDED_WINDOW = 1_000_000
"""The embedded summariser reads messages one by one; tokens, for plans alone."""


def summariser_endpoint() -> EndpointSpec | None:
    """Return the endpoint that writes summaries; None: the embedded summariser does.

    An endpoint of the page that writes summaries comes first, then SUMMARISER_…, then
    OPENAI_…. What only answers turns on the page is never sent anything else.
    """
    stored = [one for one in stored_endpoints() if one.writes_summaries]
    if stored:
        return to_spec(stored[0])
    return _environment()


def _environment() -> EndpointSpec | None:
    return environment_summaries() or environment_endpoint()


def get_summariser() -> Summariser:
    """Return the endpoint that writes summaries, or the embedded summariser."""
    return _built(summariser_endpoint())


def environment_summariser() -> Summariser:
    """Return what SUMMARISER_… names, for commands that need no database.

    A key that lies in the shell for other programs sends no file anywhere.
    """
    return _built(environment_summaries())


def _built(spec: EndpointSpec | None) -> Summariser:
    return build_chat(spec) if spec else get_stand_in()


def get_stand_in() -> RuleSummariser:
    """Return the summariser that can neither fail nor cost."""
    return EmbeddedSummariser()


def summariser_window() -> int:
    """Context length of the summariser in tokens; part of every plan's situation."""
    return _window(summariser_endpoint())


def environment_summariser_window() -> int:
    """The same for `environment_summariser()`."""
    return _window(environment_summaries())


def _window(spec: EndpointSpec | None) -> int:
    return spec.window if spec else EMBEDDED_WINDOW


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariserFacts:
    """Who writes summaries, for pages; `window` in tokens."""

    name: str
    window: int
    is_embedded: bool
    prices: Prices | None = None


def describe_summariser() -> SummariserFacts:
    """Say who writes summaries, without asking or building anything."""
    spec = summariser_endpoint()
    if spec is None:
        return SummariserFacts(name="", window=EMBEDDED_WINDOW, is_embedded=True)
    return SummariserFacts(
        name=spec.model, window=spec.window, is_embedded=False, prices=spec.prices
    )


def summariser_prices() -> Prices | None:
    """Return the prices of who writes summaries, None unless both are known."""
    return describe_summariser().prices
