"""Children are kept alive within bounds, and none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SLEEPER = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"


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
    for _ in range(300):
        try:
            pid = int((folder / "pid").read_text() or 0)
        except FileNotFoundError:
            pid = 0
        if pid not in (0, other_than):
            return pid
        time.sleep(0.05)
    raise AssertionError("the supervisor started no child within 15 seconds")


def is_running(pid):
    """Tell whether a process exists and is no zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(pid):
    for _ in range(300):
        if not is_running(pid):
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")


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


def test_a_child_that_ignores_the_polite_signal_is_stopped_after_the_grace(tmp_path):
    supervisor = supervise(tmp_path, STUBBORN, grace=0.5)
    pid = child_pid(tmp_path)
    time.sleep(0.5)  # until the child ignores SIGTERM

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

    wait_until_gone(pid)
