"""The first thing a newcomer meets: the script that installs the packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "venv.sh"


def make_checkout(folder):
    """Make a folder with the script and lock files that name no package."""
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(SCRIPT, folder / "scripts")
    for name in ("requirements.txt", "requirements-dev.txt"):
        (folder / name).write_text("# nothing\n")
    return folder


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which nothing was started yet."""
    return make_checkout(tmp_path / "checkout")


@pytest.fixture(scope="module")
def first_start(tmp_path_factory):
    """What the first start in a checkout said, and the checkout; made once."""
    folder = make_checkout(tmp_path_factory.mktemp("first") / "checkout")
    return run_script(folder), folder


@pytest.fixture
def started_checkout(first_start, tmp_path):
    """A copy of a checkout in which the console was started once."""
    _, folder = first_start
    return Path(shutil.copytree(folder, tmp_path / "copy", symlinks=True))


def run_script(checkout, kind="run", **environ):
    environ = {"PYTHON": sys.executable, "PIP_NO_INDEX": "1", **environ}
    return subprocess.run(
        ["sh", "scripts/venv.sh", kind],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], "HOME": str(checkout), **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_first_start_installs_what_the_lock_file_names(first_start):
    done, folder = first_start

    assert done.returncode == 0, done.stderr
    assert "Installing the packages of requirements.txt" in done.stderr
    assert (folder / ".venv" / "bin" / "python").exists()


def test_a_second_start_installs_nothing_again(started_checkout):
    installed = started_checkout / ".venv" / "requirements.txt.installed"
    before = installed.stat().st_mtime_ns

    second = run_script(started_checkout)

    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert installed.stat().st_mtime_ns == before


def test_a_changed_lock_file_is_installed_again(started_checkout):
    (started_checkout / "requirements.txt").write_text("# something else\n")

    again = run_script(started_checkout)

    assert "Installing the packages" in again.stderr


def test_installing_for_developers_is_enough_to_run(started_checkout):
    (started_checkout / "requirements.txt").write_text("# something else\n")
    run_script(started_checkout, "dev")

    run = run_script(started_checkout, "run")

    assert (run.returncode, run.stderr) == (0, "")


def test_a_package_that_cannot_be_had_is_named_and_nothing_is_marked_done(
    started_checkout,
):
    lock = started_checkout / "requirements.txt"
    lock.write_text(f"no-such-package==1.0 --hash=sha256:{'0' * 64}\n")

    done = run_script(started_checkout)

    assert done.returncode == 1
    assert "A package could not be had, so nothing was started." in done.stderr
    assert "no-such-package" in done.stderr
    kept = started_checkout / ".venv" / "requirements.txt.installed"
    assert "no-such-package" not in kept.read_text()


def test_an_old_python_is_refused_with_its_version(checkout):
    old = checkout / "python3.9"
    old.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit\n'
        f'exec {sys.executable} -c "import sys; sys.version_info = (3, 9, 2); $2"\n'
    )
    old.chmod(0o755)

    done = run_script(checkout, PYTHON=str(old))

    assert done.returncode == 1
    assert done.stderr.startswith(
        "hermes_web needs Python 3.11 or newer and found Python 3.9.2."
    )
    assert not (checkout / ".venv").exists()


def test_a_place_that_cannot_be_written_is_said(checkout):
    done = run_script(checkout, VENV="/dev/null/venv")

    assert done.returncode == 1
    assert "is read-only, so /dev/null/venv cannot be made" in done.stderr
