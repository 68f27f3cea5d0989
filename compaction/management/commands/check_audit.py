"""Check that no recorded action of an operator was changed or taken away."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compaction.services.audit import verify_chain


class Command(BaseCommand):
    """Follow the chain of seals from the first action to the last."""

    help = "Check the chain of recorded actions; fails when a row was changed or lost."

    def handle(self, *args: Any, **options: Any) -> None:
        """Check and say what was found."""
        check = verify_chain()
        if check.broken_at is not None:
            raise CommandError(
                f"Row {check.broken_at} does not fit the row before it: it, or what "
                "came before, was changed outside the console."
            )
        if check.missing:
            raise CommandError(f"{check.missing} rows at the end are missing.")
        self.stdout.write(f"{check.rows:,} actions, every seal fits.")
