"""Settings of the real servers and workers that tests start beside themselves."""

from __future__ import annotations

from tests.settings import *  # noqa: F403

CELERY_TASK_ALWAYS_EAGER = False
