"""Take the pictures of the documentation: `make screenshots`.

A console of its own starts on a free port with the invented demo conversations,
so the pictures show nothing of yours, and what a newcomer sees. Beside it the demo
model answers, for the picture of a turn.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
START_SECONDS = 90
TURN_SECONDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a page is looked at: size in CSS pixels, and the colour scheme."""

    suffix: str = ""
    width: int = 1280
    height: int = 900
    dark: bool = False


PLAIN = Look()
LOOKS = (PLAIN, Look(suffix="-dark", dark=True), Look(suffix="-390", width=390))


def main() -> None:
    """Start, sign in, take each picture, stop."""
    chromium = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, CHROMIUM)), None
    )
    if chromium is None:
        sys.exit("No Chromium found. Install it, or set CHROMIUM to its path.")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="hermes-web-pictures-") as folder,
        running_console(Path(folder)) as link,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        home = link.split("/sign-in/")[0]
        page = sign_in(browser, link)
        take_conversations(page, home)
        with demo_model(Path(folder)):
            take_turn(page, home)
        browser.close()


def sign_in(browser: Browser, link: str) -> Page:
    """Return a page of somebody who has used the sign-in link."""
    page = browser.new_context(reduced_motion="reduce", locale="en-GB").new_page()
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    return page


def take_conversations(page: Page, home: str) -> None:
    """Take the sessions page once, and one conversation in every look."""
    page.goto(f"{home}/sessions/")
    take(page, "sessions", PLAIN)
    conversation = newest_conversation(page)
    for look in LOOKS:
        page.goto(f"{home}{conversation}")
        take(page, "context", look)
    page.goto(f"{home}{conversation}summaries/")
    take(page, "summaries", PLAIN)


def take_turn(page: Page, home: str) -> None:
    """Send a message, and take the chat and the Timeline when it is answered."""
    page.goto(f"{home}/sessions/new/")
    page.get_by_label("Title").fill("Read the decisions")
    page.get_by_role("button", name="Begin").click()
    page.get_by_label("Message", exact=True).fill("Read every file and report.")
    page.get_by_role("button", name="Send").click()
    ended = page.locator("#turn-now.verdict")
    ended.wait_for(timeout=TURN_SECONDS * 1_000)
    take(page, "chat", PLAIN)
    page.get_by_role("link", name="Timeline").first.click()
    take(page, "timeline", PLAIN)


def newest_conversation(page: Page) -> str:
    """Return the address of the conversation that is listed first."""
    links = page.locator("main a[href^='/sessions/2']")
    address = links.first.get_attribute("href") if links.count() else None
    if address is None:
        sys.exit("The sessions page lists no conversation: were the demo data loaded?")
    return address


def take(page: Page, name: str, look: Look) -> None:
    """Save what is seen without scrolling as docs/pictures/<name><suffix>.png."""
    page.set_viewport_size({"width": look.width, "height": look.height})
    page.emulate_media(color_scheme="dark" if look.dark else "light")
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(300)
    path = PICTURES / f"{name}{look.suffix}.png"
    page.screenshot(path=path, animations="disabled")
    print(path.relative_to(ROOT))


@contextmanager
def running_console(folder: Path) -> Iterator[str]:
    """Yield the sign-in link of a console with demo data; stop it afterwards."""
    with running(folder, "run_console", "--port", free_port()) as console:
        yield wait_for(console, r"http://\S+/sign-in/\S+")


@contextmanager
def demo_model(folder: Path) -> Iterator[None]:
    """Let the demo model answer the turns of that console; stop it afterwards."""
    port = free_port()
    with running(folder, "demo_endpoint", "--register", "--port", port) as model:
        wait_for(model, r"The demo model answers")
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that runs, and the file where it prints."""

    process: subprocess.Popen[bytes]
    log: Path


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[Command]:
    """Run a command of the console on data in `folder`; stop it afterwards."""
    log = folder / f"{arguments[0]}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={
                **os.environ,
                "HERMES_WEB_DATA": f"{folder}/data",
                "AGENT_FILES_DIR": str(ROOT / "docs" / "decisions"),
                "PYTHONUNBUFFERED": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Command(process=process, log=log)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def wait_for(command: Command, pattern: str) -> str:
    """Return what a command has printed that matches."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and command.process.poll() is None:
        if found := re.search(pattern, command.log.read_text("utf-8")):
            return found.group()
        time.sleep(0.2)
    sys.exit(f"It did not start:\n{command.log.read_text('utf-8')}")


def free_port() -> str:
    """Return a free port on 127.0.0.1, as text."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


if __name__ == "__main__":
    main()
