"""`make run` as a newcomer types it: up, signed in, stopped, nothing left."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from tests.live import free_port, wait_for

ROOT = Path(__file__).resolve().parents[2]
MAKE = ["make", "--no-print-directory", "run"]
MANAGE = [sys.executable, "manage.py", "run_console"]


@dataclass(slots=True, kw_only=True)
class Started:
    """A console that was started with a data folder of its own."""

    popen: subprocess.Popen[bytes]
    log: Path
    data: Path
    port: int

    def output(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def link(self):
        """Wait for the sign-in link."""

        def found():
            assert self.popen.poll() is None, self.output()
            return re.search(r"http://\S+/sign-in/\S+", self.output())

        return wait_for(found, what="a link is printed", seconds=90).group()

    def stop(self, number, *, whole_group=False):
        """Send a signal as a terminal (whole group) or a service manager does."""
        if whole_group:
            os.killpg(self.popen.pid, number)
        else:
            self.popen.send_signal(number)
        return self.popen.wait(timeout=60)

    def processes(self):
        """Return what still runs with this data folder."""
        mark = f"HERMES_WEB_DATA={self.data}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environ = (folder / "environ").read_bytes().split(b"\0")
                alive = "\nState:\tZ" not in (folder / "status").read_text()
                if mark in environ and alive:
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" "))
            except OSError:
                continue
        return found


def begin(command, data, *, port=None, log=None):
    """Start the console on a free port, in a process group of its own."""
    port = port or free_port()
    log = log or data.parent / "console.log"
    arguments = (
        [f"PORT={port}"] if command is MAKE else ["--port", str(port), "--no-demo"]
    )
    kept = ("PATH", "HOME", "LANG")
    environ = {name: os.environ[name] for name in kept if name in os.environ}
    environ |= {"HERMES_WEB_DATA": str(data), "VENV": sys.prefix}
    with log.open("wb") as file:
        popen = subprocess.Popen(
            [*command, *arguments],
            cwd=ROOT,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Started(popen=popen, log=log, data=data, port=port)


@pytest.fixture
def started(tmp_path):
    """Starts consoles; what a failed test leaves running is ended."""
    consoles = []

    def start(command, **options):
        consoles.append(begin(command, tmp_path / "data", **options))
        return consoles[-1]

    yield start
    for console in consoles:
        if console.popen.poll() is None:
            os.killpg(console.popen.pid, signal.SIGTERM)
            console.popen.wait(timeout=60)


class Visitor:
    """Somebody with a cookie jar and no script, as `curl` would be."""

    def __init__(self):
        jar = http.cookiejar.CookieJar()
        keep = urllib.request.HTTPCookieProcessor(jar)
        self._opener = urllib.request.build_opener(keep)

    def get(self, url):
        """Return status, final address and text; an error answer is one too."""
        return self._ask(urllib.request.Request(url))

    def find_button(self, url):
        """Open a page with a form; return what pressing its button does."""
        _, _, text = self.get(url)
        post = r'<form[^>]*method="post"(?:(?!</form>).)*</form>'
        forms = re.findall(post, text, flags=re.DOTALL)
        mine = [form for form in forms if f'action="{urlsplit(url).path}"' in form]
        form = (mine or forms)[0]
        names = r'<input type="hidden" name="(\w+)" value="([^"]*)"'
        body = urlencode(re.findall(names, form)).encode()
        return lambda: self._ask(urllib.request.Request(url, data=body))

    def _ask(self, request):
        try:
            answer = self._opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return answer.status, answer.url, answer.read().decode()


def test_one_command_starts_everything_and_ctrl_c_ends_it(started):
    console = started(MAKE)
    link = console.link()

    status, address, page = Visitor().find_button(link)()
    console.stop(signal.SIGINT, whole_group=True)

    assert (status, address) == (200, f"http://127.0.0.1:{console.port}/")
    assert "admin" in page
    assert "Stopped." in console.output()
    assert "Traceback" not in console.output()
    assert console.processes() == []


def test_style_and_script_come_from_the_console_with_long_lives(started):
    console = started(MANAGE)
    _, _, page = Visitor().find_button(console.link())()

    names = re.findall(r'(?:href|src)="(/static/[^"]+\.(?:css|js|svg|woff2))"', page)
    heads = []
    for name in names:
        url = f"http://127.0.0.1:{console.port}{name}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            heads.append((answer.status, answer.headers["Cache-Control"]))
    console.stop(signal.SIGTERM)

    assert {name.rsplit(".", 1)[1] for name in names} == {"css", "js", "svg", "woff2"}
    assert {status for status, _ in heads} == {200}
    assert all("immutable" in cache for _, cache in heads)


def test_the_printed_link_signs_in_only_once(started):
    console = started(MANAGE)
    link = console.link()

    ann, bob = Visitor().find_button(link), Visitor().find_button(link)

    first, second, third = ann(), bob(), Visitor().get(link)
    console.stop(signal.SIGTERM)

    assert [status for status, _, _ in (first, second, third)] == [200, 410, 410]


def write_conversation(path):
    """Write a log of an invented agent, long enough to be worth compacting."""
    system: dict[str, object] = {
        "role": "system",
        "content": "You repair the bakery's web shop.",
    }
    messages = [system]
    for number in range(40):
        call = {"name": "read_file", "arguments": f'{{"path": "cake_{number}.py"}}'}
        messages += [
            {"role": "user", "content": f"Look at recipe {number}, please."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": f"c{number}", "type": "function", "function": call}
                ],
            },
            {
                "role": "tool",
                "tool_call_id": f"c{number}",
                "content": "flour = 1\n" * 900,
            },
            {"role": "assistant", "content": f"Recipe {number} is in order."},
        ]
    path.write_text(json.dumps(messages))


def test_what_is_imported_is_compacted_by_the_embedded_worker(started, tmp_path):
    console = started(MANAGE)
    base = f"http://127.0.0.1:{console.port}"
    visitor = Visitor()
    visitor.find_button(console.link())()
    write_conversation(tmp_path / "bakery.json")
    environ = {"PATH": os.environ["PATH"], "HERMES_WEB_DATA": str(console.data)}
    log = str(tmp_path / "bakery.json")
    command = [sys.executable, "manage.py", "import_sessions", log]
    subprocess.run(command, cwd=ROOT, env=environ, check=True, capture_output=True)

    _, _, listed = visitor.get(f"{base}/sessions/")
    session = re.search(r'href="(/sessions/2\w+/)"', listed).group(1)
    status, run, _ = visitor.find_button(f"{base}{session}compact/")()
    wait_for(
        lambda: "messages became one summary" in visitor.get(run)[2],
        what=f"the run is done\n{console.output()}",
        seconds=60,
    )
    console.stop(signal.SIGTERM)

    assert status == 200
    assert re.fullmatch(rf"{base}/runs/[0-9a-f-]+/", run)
    assert "Traceback" not in console.output()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_signal_to_the_command_alone_ends_both_children(started, number):
    console = started(MANAGE)
    console.link()
    running = console.processes()

    status = console.stop(number)

    assert sum(b"uvicorn" in command for command in running) == 1
    assert sum(b"celery" in command for command in running) == 1
    assert status == 0
    assert console.processes() == []


def test_a_dead_worker_is_replaced(started):
    console = started(MANAGE)
    console.link()
    pids = [
        int(folder.name)
        for folder in Path("/proc").glob("[0-9]*")
        if _is_worker_of(folder, console.data)
    ]

    os.kill(pids[0], signal.SIGKILL)
    wait_for(
        lambda: "The worker ended unexpectedly (status -9)" in console.output(),
        what="the death is said",
    )
    wait_for(
        lambda: any(b"celery" in command for command in console.processes()),
        what="another worker runs",
    )

    assert console.stop(signal.SIGTERM) == 0
    assert console.processes() == []


def _is_worker_of(folder, data):
    try:
        environ = (folder / "environ").read_bytes()
        command = (folder / "cmdline").read_bytes()
    except OSError:
        return False
    return f"HERMES_WEB_DATA={data}".encode() in environ and b"celery" in command


def test_a_second_start_keeps_everything_and_loads_nothing_again(started, tmp_path):
    first = started(MAKE)
    visitor = Visitor()
    visitor.find_button(first.link())()
    listed = list_conversations(visitor, first)
    first.stop(signal.SIGTERM)
    secret = (tmp_path / "data" / "secret_key").read_text()

    second = started(MAKE, log=tmp_path / "second.log", port=first.port)
    second.link()
    listed_again = list_conversations(visitor, second)
    second.stop(signal.SIGTERM)

    assert "Loaded invented demo conversations" in first.output()
    assert len(listed) > 5
    assert listed_again == listed
    assert "demo" not in second.output()
    assert "Installing" not in second.output()
    assert (tmp_path / "data" / "secret_key").read_text() == secret


def list_conversations(visitor, console):
    """Return the addresses on the list; still signed in after another start."""
    _, _, text = visitor.get(f"http://127.0.0.1:{console.port}/sessions/")
    return re.findall(r'href="(/sessions/2\w+/)"', text)


def test_a_busy_port_is_said_in_one_sentence_and_nothing_is_started(started):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        console = started(MANAGE, port=port)
        status = console.popen.wait(timeout=60)

    assert status != 0
    assert console.output().strip() == (
        f"CommandError: Port {port} on 127.0.0.1 is in use. "
        f"Choose another: make run PORT={port % 65535 + 1}"
    )
    assert console.processes() == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--host", "no-such-host.invalid"], "is not an address of this machine"),
        (
            ["--host", "192.0.2.1", "--port", "8000"],
            "Port 8000 on 192.0.2.1 cannot be used",
        ),
        (["--port", "70000"], "PORT 70000 is not a port"),
    ],
)
def test_an_impossible_address_is_said_in_one_sentence(tmp_path, arguments, sentence):
    done = run_once(arguments, HERMES_WEB_DATA=str(tmp_path))

    assert done.returncode == 1
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_read_only_data_folder_is_said_in_one_sentence():
    done = run_once([], HERMES_WEB_DATA="/proc/console")

    assert done.returncode == 1
    assert done.stderr.startswith("The folder /proc/console cannot be made")
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_database_that_cannot_be_used_is_said_without_its_password(tmp_path):
    url = f"postgresql://ann:hunter2@127.0.0.1:{free_port()}/console"

    done = run_once(
        ["--port", str(free_port())], HERMES_WEB_DATA=str(tmp_path), DATABASE_URL=url
    )

    assert done.returncode == 1
    assert "CommandError: The database console cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
    assert "hunter2" not in done.stderr


def run_once(arguments, **environ):
    return subprocess.run(
        [*MANAGE, "--no-demo", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
