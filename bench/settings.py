"""Settings while pages are measured: the real ones, files as they lie, bare pages."""

from __future__ import annotations

from hermes_web.settings import *  # noqa: F403
from hermes_web.settings import STATIC_ROOT, STORAGES

ROOT_URLCONF = "bench.bare_pages"
STORAGES["staticfiles"] = {
    "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
}
STATIC_ROOT.mkdir(exist_ok=True)
