"""Load invented conversations, so that the first start has something to show."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from compaction.management.demo.seeding import seed


class Command(BaseCommand):
    """Load the demo; doing it twice changes nothing."""

    help = "Load the invented demo conversations that are not there yet."

    def handle(self, *args: Any, **options: Any) -> None:
        """Load them and say how many."""
        count = seed(timezone.now())
        if options["verbosity"]:
            self.stdout.write(f"{count} demo conversations loaded.")
