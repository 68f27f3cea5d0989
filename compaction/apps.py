"""Registration of the app with Django."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CompactionConfig(AppConfig):
    """The one app of the project."""

    name = "compaction"
    verbose_name = _("Compaction")
    default_auto_field = "django.db.models.BigAutoField"
