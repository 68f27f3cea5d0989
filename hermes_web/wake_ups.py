"""Periodic wake-ups for the worker, sent by the embedded supervisor.

In production `celery beat` sends the same schedule (CELERY_BEAT_SCHEDULE).
"""

from __future__ import annotations

import logging
import time

from kombu.exceptions import OperationalError

from hermes_web.celery import app

logger = logging.getLogger(__name__)


class WakeUps:
    """The schedule of `CELERY_BEAT_SCHEDULE`, one message per entry and period."""

    def __init__(self) -> None:
        self._due = dict.fromkeys(app.conf.beat_schedule, 0.0)
        self._failing = False

    def send_due(self) -> None:
        """Send each wake-up whose period is over; say once when that fails."""
        now = time.monotonic()
        for name, entry in app.conf.beat_schedule.items():
            if now >= self._due[name]:
                self._due[name] = now + entry["schedule"]
                self._send(entry["task"], expires=entry["options"]["expires"])

    def _send(self, task: str, *, expires: float) -> None:
        try:
            app.send_task(task, expires=expires, retry=False)
        except (OperationalError, OSError) as error:
            if not self._failing:
                logger.warning(
                    "The broker cannot be reached (%s); runs wait until it can.", error
                )
            self._failing = True
        else:
            self._failing = False
