"""Fixtures for every test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Examples have no deadline: how long one takes says nothing on a busy machine.
settings.register_profile(
    "console", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("console")

pytest_plugins = ["tests.live", "tests.server.fixtures", "tests.services.turn_fixtures"]
