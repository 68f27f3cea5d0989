"""The console on a database of its own, for rows that measure all of it."""

from __future__ import annotations

import os
from pathlib import Path


def open_console(folder: Path) -> None:
    """Set Django up on a new SQLite database in `folder`; once in a process."""
    os.environ.pop("DATABASE_URL", None)
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "bench.settings",
        "HERMES_WEB_DATA": str(folder),
        "TIKTOKEN_CACHE_DIR": str(folder / "tiktoken"),
        "HERMES_HOME": str(folder / "no-hermes-home"),
        "SECRET_KEY": "only for measuring",
        "LOG_LEVEL": "ERROR",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
