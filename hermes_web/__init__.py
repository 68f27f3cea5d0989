"""How the console is run: settings, Celery application, URLs, servers.

The Celery application is imported here so that `shared_task` finds it
wherever Django is set up.
"""

from __future__ import annotations

from hermes_web.celery import app as celery_app

__all__ = ["celery_app"]
