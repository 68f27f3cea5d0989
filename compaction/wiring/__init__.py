"""Settings and stored endpoints in, engine objects out.

The only reader of settings besides hermes_web.
"""

from __future__ import annotations

from compaction.wiring.counting import get_counter
from compaction.wiring.endpoints import (
    ENVIRONMENT,
    EndpointSpec,
    Prices,
    build_chat,
    environment_endpoints,
    named_key_variables,
    stored_endpoints,
    to_spec,
    turn_endpoints,
)
from compaction.wiring.limits import (
    LeaseLimits,
    UploadLimits,
    lease_limits,
    source_limits,
    turn_limits,
    upload_limits,
)
from compaction.wiring.summariser import (
    EMBEDDED_WINDOW,
    SummariserFacts,
    describe_summariser,
    environment_summariser,
    environment_summariser_window,
    get_stand_in,
    get_summariser,
    summariser_endpoint,
    summariser_prices,
    summariser_window,
)
from compaction.wiring.surroundings import (
    Hooks,
    agent_folder,
    compaction_hooks,
    hermes_homes,
)

__all__ = [
    "EMBEDDED_WINDOW",
    "ENVIRONMENT",
    "EndpointSpec",
    "Hooks",
    "LeaseLimits",
    "Prices",
    "SummariserFacts",
    "UploadLimits",
    "agent_folder",
    "build_chat",
    "compaction_hooks",
    "describe_summariser",
    "environment_endpoints",
    "environment_summariser",
    "environment_summariser_window",
    "get_counter",
    "get_stand_in",
    "get_summariser",
    "hermes_homes",
    "lease_limits",
    "named_key_variables",
    "source_limits",
    "stored_endpoints",
    "summariser_endpoint",
    "summariser_prices",
    "summariser_window",
    "to_spec",
    "turn_endpoints",
    "turn_limits",
    "upload_limits",
]
