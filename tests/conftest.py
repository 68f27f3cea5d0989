"""Fixtures for every test."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# Examples have no deadline: how long one takes says nothing on a busy machine.
settings.register_profile(
    "console", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("console")

# A shell that starts the tests in the background has them ignore Ctrl-C, and every
# process that they start in turn: one of these would never hear the Ctrl-C of a test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.live", "tests.server.fixtures", "tests.services.turn_fixtures"]
