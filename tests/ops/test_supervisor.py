"""Children are kept alive within bounds, and none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.live import wait_for

ROOT = Path(__file__).resolve().parents[2]
SLEEPER = "import time; time.sleep(60)"
POLITE = """
import pathlib, signal, sys, time
def leave(*_):
    pathlib.Path("farewell").touch()
    sys.exit()
signal.signal(signal.SIGTERM, leave)
pathlib.Path("ready").touch()
time.sleep(60)
"""
STUBBORN = """
import pathlib, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path("ready").touch()
time.sleep(60)
"""


def supervise(folder, code, *, restarts=5, grace=10.0):
    """Start a real supervisor of one child in a process of its own."""
    script = textwrap.dedent(f"""
        import sys
        from pathlib import Path
        from hermes_web.supervisor import Allowance, Child, ChildKeepsDying, Supervisor

        child = Child(name="sleeper", command=[sys.executable, "-c", {code!r}])

        def write_pid():
            Path({str(folder)!r}, "pid").write_text(str(child.process.pid))

        supervisor = Supervisor(
            [child], print, allowance=Allowance(restarts={restarts}), grace={grace}
        )
        try:
            supervisor.run(write_pid)
        except ChildKeepsDying as error:
            sys.exit(str(error))
    """)
    return subprocess.Popen(
        [sys.executable, "-u", "-c", script],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def child_pid(folder, other_than=0):
    """Wait until the supervisor has written the pid of a (new) child."""

    def read():
        path = folder / "pid"
        pid = int(path.read_text() or 0) if path.exists() else 0
        return pid if pid != other_than else 0

    return wait_for(read, what="the supervisor started a child")


def is_running(pid):
    """Tell whether a process exists and is no zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_signal_ends_the_child_and_then_the_supervisor(tmp_path, number):
    supervisor = supervise(tmp_path, SLEEPER)
    pid = child_pid(tmp_path)

    supervisor.send_signal(number)
    output, _ = supervisor.communicate(timeout=30)

    assert supervisor.returncode == 0, output
    assert not is_running(pid)


def test_a_child_that_dies_is_started_again_and_it_is_said(tmp_path):
    supervisor = supervise(tmp_path, SLEEPER)
    first = child_pid(tmp_path)

    os.kill(first, signal.SIGKILL)
    second = child_pid(tmp_path, other_than=first)
    supervisor.send_signal(signal.SIGINT)
    output, _ = supervisor.communicate(timeout=30)

    assert "The sleeper ended unexpectedly (status -9)" in output
    assert "(1 of 5)" in output
    assert not is_running(second)


def test_a_child_that_keeps_dying_ends_everything_with_one_sentence(tmp_path):
    supervisor = supervise(tmp_path, "raise SystemExit(3)", restarts=2)

    output, _ = supervisor.communicate(timeout=30)

    assert supervisor.returncode == 1
    assert "The sleeper ended 3 times within 60 seconds (status 3)" in output


def test_a_child_is_asked_politely_before_it_is_forced(tmp_path):
    code = f"import os; os.chdir({str(tmp_path)!r}){POLITE}"
    supervisor = supervise(tmp_path, code)
    wait_for((tmp_path / "ready").exists, what="the child is up")

    supervisor.send_signal(signal.SIGINT)
    output, _ = supervisor.communicate(timeout=30)

    assert (tmp_path / "farewell").exists(), output
    assert "did not end in time" not in output


def test_a_child_that_ignores_the_polite_signal_is_stopped_after_the_grace(tmp_path):
    code = f"import os; os.chdir({str(tmp_path)!r}){STUBBORN}"
    supervisor = supervise(tmp_path, code, grace=0.5)
    wait_for((tmp_path / "ready").exists, what="the child ignores SIGTERM")
    pid = child_pid(tmp_path)

    supervisor.send_signal(signal.SIGTERM)
    output, _ = supervisor.communicate(timeout=30)

    assert "did not end in time and was stopped" in output
    assert not is_running(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux' parent-death signal")
def test_children_end_when_the_supervisor_itself_is_killed(tmp_path):
    supervisor = supervise(tmp_path, SLEEPER)
    pid = child_pid(tmp_path)

    supervisor.kill()
    supervisor.communicate(timeout=30)

    wait_for(lambda: not is_running(pid), what="the child is gone")
