"""Serve a scripted model on this machine, to watch turns without any key."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from compaction import wiring
from compaction.management.demo_model.model import DemoModel
from compaction.management.demo_model.serving import MODELS, DemoServer
from compaction.models import Endpoint
from compaction.services.endpoints import (
    EndpointConflict,
    EndpointDraft,
    save_endpoint,
)

WINDOW = 32_000
"""What is entered as context length: more than the model says it has, later on."""


class Command(BaseCommand):
    """Serve until interrupted."""

    help = (
        "Serve a scripted, OpenAI-compatible model on 127.0.0.1. It works on a long "
        "task with faults on the way: a rate limit, a broken stream, a context "
        "overflow, a server error, a refused key, a cut-off answer."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the port, and whether the endpoints are entered."""
        parser.add_argument("--port", type=int, default=8931)
        parser.add_argument(
            "--register",
            action="store_true",
            help="enter it on the Endpoints page: demo, and demo-small as its fallback",
        )
        parser.add_argument(
            "--summaries",
            action="store_true",
            help="with --register: let it write summaries too, of every conversation",
        )
        parser.add_argument(
            "--pace",
            type=float,
            default=0.02,
            metavar="SECONDS",
            help="before each piece of a streamed answer (default 0.02)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Register if asked to, then serve."""
        counter = wiring.get_counter("gpt-4o")
        try:
            server = DemoServer(
                DemoModel(counter.count), port=options["port"], pace=options["pace"]
            )
        except OSError as error:
            raise CommandError(
                f"Port {options['port']} cannot be used ({error.strerror}). Choose "
                "another one with --port."
            ) from error
        with server:
            if options["register"]:
                self._register(server.base_url, with_summaries=options["summaries"])
            self.stdout.write(f"The demo model answers at {server.base_url}")
            self.stdout.write("Ctrl-C stops it.")
            self.stdout.flush()
            try:
                server.serve_forever(poll_interval=0.1)
            except KeyboardInterrupt:
                self.stdout.write("Stopped.")

    def _register(self, base_url: str, *, with_summaries: bool) -> None:
        for name in MODELS:
            writes = with_summaries and name == MODELS[0]
            draft = EndpointDraft(
                name=name,
                base_url=base_url,
                model=name,
                window=WINDOW,
                timeout=60.0,
                input_price=Decimal(1),
                output_price=Decimal(4),
                writes_summaries=writes,
                allow_private=True,
            )
            self._save(draft)
        self.stdout.write(
            f"Entered on the Endpoints page: {' and '.join(MODELS)}. Their prices are "
            "invented."
        )

    def _save(self, draft: EndpointDraft) -> None:
        """Enter an endpoint, or bring the one of this name up to date."""
        try:
            known = Endpoint.objects.filter(name=draft.name).first()
            if known is not None:
                draft = replace(draft, base_version=known.version)
            saved = save_endpoint(draft, operator=None, endpoint=known)
        except DatabaseError as error:
            raise CommandError(
                f"The database cannot be used ({error}). Start the console once, or "
                "run manage.py migrate."
            ) from error
        if isinstance(saved, EndpointConflict):
            raise CommandError(f"{draft.name} was changed just now; try again.")
