"""Fixtures with real parts: web server, worker, Chromium, people.

A test that uses `console` or `worker` must commit what it wants them to see:
both fixtures ask for a transactional database by themselves.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Route,
    expect,
    sync_playwright,
)

from hermes_web.celery import app as celery_app

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# --- people ----------------------------------------------------------------
def make_person(name: str, role: str) -> User:
    """Make a user with one of the three roles."""
    group, _ = Group.objects.get_or_create(name=role)
    user = User.objects.create_user(name)
    user.groups.add(group)
    return user


@pytest.fixture
def viewer(db: None) -> User:
    return make_person("vera", "viewer")


@pytest.fixture
def operator(db: None) -> User:
    return make_person("olaf", "operator")


@pytest.fixture
def admin(db: None) -> User:
    return make_person("ada", "admin")


@pytest.fixture
def stranger(db: None) -> User:
    """A user who may sign in but has no role."""
    return User.objects.create_user("sam")


# --- processes -------------------------------------------------------------
def free_port() -> int:
    """Return a port on 127.0.0.1 that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def database_url_of_tests() -> str:
    """Return the DATABASE_URL of the database that the tests write to."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    parts = urlsplit(os.environ["DATABASE_URL"])
    return urlunsplit(parts._replace(path=f"/{quote(name)}"))


def process_environment(**extra: str) -> dict[str, str]:
    """Return the environment of a process that shares our database and broker."""
    environ = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.live_settings",
        "DATABASE_URL": database_url_of_tests(),
        "PYTHONUNBUFFERED": "1",
        **extra,
    }
    # Only this process drives a browser; a server must keep Django's guard.
    environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)
    return environ


def wait_for(condition: Callable[[], Any], *, what: str, seconds: float = 30) -> Any:
    """Return the first true value of a condition; fail when it stays false."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError(f"after {seconds:.0f} seconds still not: {what}")


def answers(port: int) -> bool:
    """Tell whether somebody listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass(slots=True, kw_only=True)
class Process:
    """A process of ours with the log it writes."""

    popen: subprocess.Popen[bytes]
    log: Path

    def output(self) -> str:
        """Return what it said so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.popen.kill()
        self.popen.wait()

    def stop(self) -> None:
        """End it politely, then surely."""
        if self.popen.poll() is None:
            self.popen.terminate()
            try:
                self.popen.wait(timeout=15)
            except subprocess.TimeoutExpired:
                self.kill()


def start_process(command: list[str], log: Path, **environ: str) -> Process:
    """Start a process on the test database that writes to `log`."""
    with log.open("wb") as file:
        popen = subprocess.Popen(
            command,
            cwd=ROOT,
            env=process_environment(**environ),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    return Process(popen=popen, log=log)


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """A running web server; `url("/runs/")` gives a whole address."""

    process: Process
    port: int

    def url(self, path: str = "/") -> str:
        """Return the address of a page."""
        return f"http://127.0.0.1:{self.port}{path}"

    def sign_in(self, context: BrowserContext, user: User) -> None:
        """Give a browser context the session of a signed-in user."""
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        value = client.cookies[name].value
        context.add_cookies([{"name": name, "value": value, "url": self.url()}])


@pytest.fixture(scope="session")
def _web_server(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    port = free_port()
    process = start_process(
        [
            *(sys.executable, "-m", "uvicorn", "hermes_web.asgi:application"),
            *("--host", "127.0.0.1", "--port", str(port), "--lifespan", "off"),
            *("--timeout-graceful-shutdown", "1", "--log-level", "warning"),
        ],
        tmp_path_factory.mktemp("web") / "log",
    )
    try:
        wait_for(
            lambda: answers(port) or process.popen.poll() is not None,
            what="the web server answers",
            seconds=60,
        )
        assert process.popen.poll() is None, process.output()
        yield Console(process=process, port=port)
    finally:
        process.stop()


@pytest.fixture
def console(_web_server: Console, transactional_db: None) -> Console:
    """A real uvicorn on the test database, started once for all tests."""
    return _web_server


@dataclass(slots=True, kw_only=True)
class Workers:
    """Starts real Celery workers: `workers.start()`; all end with the test."""

    folder: Path
    running: list[Process] = field(default_factory=list)

    def start(self, *, concurrency: int = 2, **environ: str) -> Process:
        """Start a worker and wait until it takes messages."""
        log = self.folder / f"worker-{len(self.running)}.log"
        process = start_process(
            [
                *(sys.executable, "-m", "celery", "--app", "hermes_web", "worker"),
                *("--pool", "threads", "--concurrency", str(concurrency)),
                *("--loglevel", "INFO", "--hostname", f"w{len(self.running)}@tests"),
                *("--without-gossip", "--without-mingle", "--without-heartbeat"),
            ],
            log,
            **environ,
        )
        self.running.append(process)
        wait_for(
            lambda: " ready." in process.output() or process.popen.poll() is not None,
            what=f"the worker is ready\n{process.output()}",
            seconds=60,
        )
        # A worker that is told to die may be dead again by now.
        assert " ready." in process.output(), process.output()
        return process


@pytest.fixture
def workers(transactional_db: None, tmp_path: Path) -> Iterator[Workers]:
    """Real workers on the real broker; tasks of this process go through it too."""
    celery_app.control.purge()
    eager = celery_app.conf.task_always_eager
    celery_app.conf.task_always_eager = False
    started = Workers(folder=tmp_path)
    try:
        yield started
    finally:
        # A polite stop takes Celery up to four seconds and proves nothing here.
        for process in started.running:
            process.kill()
        celery_app.conf.task_always_eager = eager
        celery_app.control.purge()


@pytest.fixture
def worker(workers: Workers) -> Process:
    """One real worker, ready."""
    return workers.start()


# --- browser ---------------------------------------------------------------
def find_chromium() -> str | None:
    """Return the path of a Chromium on this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, names)), None
    )


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One real Chromium for all tests; skip where there is none.

    With HERMES_WEB_REQUIRE_CHROMIUM=1 its absence is a failure.
    """
    path = find_chromium()
    if path is None:
        if os.environ.get("HERMES_WEB_REQUIRE_CHROMIUM") == "1":
            pytest.fail("Chromium is required and was not found; set CHROMIUM.")
        pytest.skip("no Chromium found: install it or set CHROMIUM to its path")
    # Playwright's loop runs in this thread; Django would refuse the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    # On a busy machine a worker may need a while before a page can show anything.
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@dataclass(kw_only=True)  # no slots: Playwright hangs its wrappers on it
class BrowserFindings:
    """What a browser complained about, and where it tried to go."""

    script_errors: list[str] = field(default_factory=list)
    policy_violations: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Collect from a page."""
        page.on("pageerror", lambda error: self.script_errors.append(str(error)))
        page.on("console", lambda message: self._hear(message.text))

    def keep_at_home(self, route: Route) -> None:
        """Let requests to this machine pass and stop all others."""
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            route.continue_()
        else:
            self.foreign_requests.append(route.request.url)
            route.abort()

    def _hear(self, text: str) -> None:
        if "Content Security Policy" in text:
            self.policy_violations.append(text)


@pytest.fixture
def browser_context(chromium: Browser) -> Iterator[BrowserContext]:
    """A fresh context; the test fails when a page in it misbehaved.

    Misbehaving: an uncaught script error, a breach of the content security
    policy, a request to another machine.
    """
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(15_000)
    findings = BrowserFindings()
    context.route("**/*", findings.keep_at_home)
    context.on("page", findings.watch)
    yield context
    context.close()
    assert findings == BrowserFindings()


@pytest.fixture
def page(browser_context: BrowserContext) -> Page:
    """A page nobody is signed in on; see `Console.sign_in`."""
    return browser_context.new_page()
