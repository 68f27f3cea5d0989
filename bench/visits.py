"""Somebody who looks at pages, on one of several databases at a time, in this process.

Django must be set up before this module is imported (`console.open_console`).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bench.databases import write_conversations, write_talk
from compaction.engine.messages import Message
from compaction.selectors.plans import forget_plans
from compaction.services.roles import ensure_roles


class Visitor:
    """Asks for pages the way a browser does, through all of the middleware."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[int, Path] = {}
        self._client = Client(SERVER_NAME="localhost")

    def make_databases(self, sizes: Sequence[int], talk: Sequence[Message]) -> None:
        """Make a database for each number of conversations; each has the talk."""
        made = Path(str(connection.settings_dict["NAME"]))
        write_talk(talk)
        self._sign_in()
        done = 1
        for size in sorted(sizes):
            write_conversations(done, size)
            done = size
            connection.close()
            self._files[size] = Path(
                shutil.copy(made, self._folder / f"{size}.sqlite3")
            )

    def _sign_in(self) -> None:
        ensure_roles()
        self._client.force_login(User.objects.create_superuser("operator"))

    def go_to(self, size: int) -> None:
        """Turn to the database with so many conversations; nothing is remembered."""
        connection.close()
        connection.settings_dict["NAME"] = str(self._files[size])
        cache.clear()
        forget_plans()

    def get(self, address: str) -> str:
        """Return a page; raises RuntimeError when there is none."""
        response = self._client.get(address)
        if response.status_code != 200:
            raise RuntimeError(f"{address} answered {response.status_code}")
        return response.content.decode()

    def seconds(self, address: str) -> float:
        """Return the CPU seconds that a page takes."""
        return self.visit(address)[0]

    def visit(self, address: str) -> tuple[float, str]:
        """Return the CPU seconds that a page takes, and the page."""
        started = time.process_time()
        page = self.get(address)
        return time.process_time() - started, page

    def queries(self, address: str) -> int:
        """Return how many queries a page needs."""
        with CaptureQueriesContext(connection) as captured:
            self.get(address)
        return len(captured)
