"""The first thing a newcomer meets: the script that installs the packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "venv.sh"


@pytest.fixture
def checkout(tmp_path):
    """A folder with the script and lock files that name no package."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    for name in ("requirements.txt", "requirements-dev.txt"):
        (tmp_path / name).write_text("# nothing\n")
    return tmp_path


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


def test_a_second_start_installs_nothing_again(checkout):
    first = run_script(checkout)
    installed = checkout / ".venv" / "requirements.txt.installed"
    before = installed.stat().st_mtime_ns

    second = run_script(checkout)

    assert first.returncode == 0, first.stderr
    assert "Installing the packages of requirements.txt" in first.stderr
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert installed.stat().st_mtime_ns == before


def test_a_changed_lock_file_is_installed_again(checkout):
    run_script(checkout)
    (checkout / "requirements.txt").write_text("# something else\n")

    again = run_script(checkout)

    assert "Installing the packages" in again.stderr


def test_installing_for_developers_is_enough_to_run(checkout):
    run_script(checkout, "dev")

    run = run_script(checkout, "run")

    assert (run.returncode, run.stderr) == (0, "")


def test_a_package_that_cannot_be_had_is_named_and_nothing_is_marked_done(checkout):
    (checkout / "requirements.txt").write_text(
        f"no-such-package==1.0 --hash=sha256:{'0' * 64}\n"
    )

    done = run_script(checkout)

    assert done.returncode == 1
    assert "A package could not be had, so nothing was started." in done.stderr
    assert "no-such-package" in done.stderr
    assert not (checkout / ".venv" / "requirements.txt.installed").exists()


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
