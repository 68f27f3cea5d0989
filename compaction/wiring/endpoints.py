"""Which endpoints there are: those on the page, else those of the environment.

docs/decisions/0015-endpoints.md says why in this order.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings

from compaction.adapters.address_rules import AddressRule
from compaction.adapters.openai_chat import OpenAIChat
from compaction.engine.llm import ChatModel
from compaction.models import Endpoint

OPENAI_URL = "https://api.openai.com/v1"
ENVIRONMENT = "environment"
"""The name of the endpoint that OPENAI_… variables make."""
ENVIRONMENT_SUMMARIES = "environment-summaries"
"""The name of the endpoint that SUMMARISER_… variables make."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Money for a million tokens."""

    input: Decimal
    output: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSpec:
    """An endpoint; `key_env` names the variable with its key.

    `window` in tokens, `timeout` in seconds for an answer, prices for a million
    tokens. `rule` says which addresses may be connected to.
    """

    name: str
    base_url: str
    model: str
    window: int
    key_env: str = ""
    timeout: float = 300.0
    input_price: Decimal | None = None
    output_price: Decimal | None = None
    rule: AddressRule = AddressRule.ANY

    @property
    def has_key(self) -> bool:
        """True when the variable with the key is set now."""
        return bool(os.environ.get(self.key_env, "").strip())

    @property
    def prices(self) -> Prices | None:
        """The prices, None unless both are known."""
        if self.input_price is None or self.output_price is None:
            return None
        return Prices(input=self.input_price, output=self.output_price)


def turn_endpoints() -> tuple[EndpointSpec, ...]:
    """Return the endpoints that answer turns, the primary first; none without any.

    The environment's is asked only while none on the page answers turns.
    """
    stored = [one for one in stored_endpoints() if one.answers_turns]
    if stored:
        return tuple(to_spec(endpoint) for endpoint in stored)
    own = environment_endpoint()
    return (own,) if own else ()


def stored_endpoints() -> list[Endpoint]:
    """Return the enabled endpoints of the page, in their order."""
    return list(Endpoint.objects.filter(enabled=True))


def to_spec(endpoint: Endpoint) -> EndpointSpec:
    """Return what is needed to ask a stored endpoint."""
    permitted = endpoint.allow_private
    return EndpointSpec(
        name=endpoint.name,
        base_url=endpoint.base_url,
        model=endpoint.model,
        window=endpoint.window,
        key_env=endpoint.key_env,
        timeout=endpoint.timeout,
        input_price=endpoint.input_price,
        output_price=endpoint.output_price,
        rule=AddressRule.PRIVATE if permitted else AddressRule.PUBLIC,
    )


def environment_endpoints() -> tuple[EndpointSpec, ...]:
    """Return what the environment names: for turns and summaries, for summaries."""
    named = (environment_endpoint(), environment_summaries())
    return tuple(spec for spec in named if spec)


def environment_endpoint() -> EndpointSpec | None:
    """Return the endpoint of OPENAI_… variables: a key is enough, or a base URL."""
    key_env = settings.OPENAI_API_KEY_ENV
    if not (settings.OPENAI_BASE_URL or os.environ.get(key_env, "").strip()):
        return None
    return EndpointSpec(
        name=ENVIRONMENT,
        base_url=settings.OPENAI_BASE_URL or OPENAI_URL,
        model=settings.OPENAI_MODEL,
        window=settings.OPENAI_WINDOW,
        key_env=key_env,
        input_price=settings.OPENAI_INPUT_PRICE,
        output_price=settings.OPENAI_OUTPUT_PRICE,
    )


def environment_summaries() -> EndpointSpec | None:
    """Return the endpoint of SUMMARISER_… variables, which writes summaries alone."""
    if not settings.SUMMARISER_BASE_URL:
        return None
    return EndpointSpec(
        name=ENVIRONMENT_SUMMARIES,
        base_url=settings.SUMMARISER_BASE_URL,
        model=settings.SUMMARISER_MODEL,
        window=settings.SUMMARISER_WINDOW,
        key_env=settings.SUMMARISER_API_KEY_ENV,
        timeout=settings.SUMMARISER_TIMEOUT,
        input_price=settings.SUMMARISER_INPUT_PRICE,
        output_price=settings.SUMMARISER_OUTPUT_PRICE,
    )


def build_chat(spec: EndpointSpec) -> ChatModel:
    """Return the model behind an endpoint; its key is read now and kept nowhere."""
    return OpenAIChat(
        base_url=spec.base_url,
        model=spec.model,
        api_key=os.environ.get(spec.key_env) or None,
        window=spec.window,
        timeout=spec.timeout,
        rule=spec.rule,
    )


def named_key_variables() -> tuple[str, ...]:
    """Return variables that whoever starts the console names as keys of endpoints."""
    return tuple(settings.ENDPOINT_KEY_VARIABLES)
