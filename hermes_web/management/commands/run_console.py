"""Start web server and worker together: what `make run` calls."""

from __future__ import annotations

import os
import socket
import sys
from argparse import ArgumentParser
from contextlib import closing
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from compaction.services.sign_in import issue_sign_in_token
from hermes_web import first_start
from hermes_web.supervisor import Child, ChildKeepsDying, Supervisor
from hermes_web.wake_ups import WakeUps

_ANYWHERE = {"0.0.0.0", "::", ""}


class Command(BaseCommand):
    """Prepare, start, print the way in, watch, stop cleanly."""

    help = (
        "Start the web server and a worker under one supervisor, for one machine. "
        "docs/operating.md says how to run them apart in production."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the address and whether demo conversations are wanted."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--no-demo",
            action="store_true",
            help="load no invented conversations on the first start",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until SIGINT or SIGTERM."""
        host, port = options["host"], options["port"]
        try:
            self._prepare(host, port, with_demo=not options["no_demo"])
            self._run(host, port)
        except KeyboardInterrupt:
            self.stdout.write("Stopped before it was up.")
        except ChildKeepsDying as error:
            raise CommandError(str(error)) from error

    def _prepare(self, host: str, port: int, *, with_demo: bool) -> None:
        first_start.require_free_address(host, port)
        first_start.prepare_database()
        first_start.collect_static_files()
        if with_demo and first_start.load_demo_once():
            self.stdout.write("Loaded invented demo conversations (first start).")

    def _run(self, host: str, port: int) -> None:
        announcement = Announcement(self, host, port)
        wake_ups = WakeUps()

        def on_tick() -> None:
            announcement.make_once()
            wake_ups.send_due()

        Supervisor(
            [web_server(host, port), worker()],
            self._say,
            environ=child_environment(host),
        ).run(on_tick)
        self.stdout.write("Stopped.")

    def _say(self, sentence: str) -> None:
        self.stderr.write(sentence)


class Announcement:
    """The lines with the address, printed once the web server answers."""

    def __init__(self, command: BaseCommand, host: str, port: int) -> None:
        self._out = command.stdout
        self._address = ("127.0.0.1" if host in _ANYWHERE else host, port)
        self._made = False

    def make_once(self) -> None:
        """Print the address and a fresh sign-in link, the first time it can be."""
        if self._made or not self._answers():
            return
        self._made = True
        token = issue_sign_in_token(first_start.first_admin())
        base = self._base()
        self._out.write(
            f"\nhermes_web is running.\n"
            f"  Address  {base}/\n"
            f"  Sign in  {base}/sign-in/{token}/\n"
            "The link is valid once and for ten minutes. Another one:\n"
            f"  {sys.executable} manage.py sign_in_link --address {base}\n"
            "Ctrl-C stops web server and worker."
        )
        self._out.flush()

    def _answers(self) -> bool:
        with closing(socket.socket(_family(self._address[0]))) as probe:
            probe.settimeout(0.5)
            return probe.connect_ex(self._address) == 0

    def _base(self) -> str:
        host, port = self._address
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def web_server(host: str, port: int) -> Child:
    """Return uvicorn, told to leave open event streams after 3 s at a stop."""
    return Child(
        name="web server",
        command=[
            *(sys.executable, "-m", "uvicorn", "hermes_web.asgi:application"),
            *("--host", host, "--port", str(port), "--lifespan", "off"),
            *("--timeout-graceful-shutdown", "3", "--log-level", "warning"),
            "--no-server-header",
        ],
    )


def worker() -> Child:
    """Return a Celery worker of two threads, without the chatter of a fleet.

    Celery's warning about root is about pickled messages; ours are JSON.
    """
    return Child(
        name="worker",
        command=[
            *(sys.executable, "-W", "ignore:You're running the worker with superuser"),
            *("-m", "celery", "--app", "hermes_web", "--quiet", "worker"),
            *("--pool", "threads", "--concurrency", "2", "--loglevel", "WARNING"),
            *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        ],
    )


def child_environment(host: str) -> dict[str, str]:
    """Return the environment of the children: ours, and this host allowed."""
    names = [*settings.ALLOWED_HOSTS, socket.gethostname()]
    if host not in _ANYWHERE:
        names.append(f"[{host}]" if ":" in host else host)
    return {
        **os.environ,
        "ALLOWED_HOSTS": ",".join(dict.fromkeys(names)),
        "PYTHONUNBUFFERED": "1",
    }
