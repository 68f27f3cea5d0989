"""The Celery application.

Messages are wake-ups: the database holds the truth about every run, so a
lost or doubled message does no harm (docs/decisions/0004-embedded-broker.md).
"""

from __future__ import annotations

import os

from celery import Celery

from hermes_web.file_broker import use_whole_files

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermes_web.settings")

use_whole_files()
app = Celery("hermes_web")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
