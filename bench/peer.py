"""Hermes Agent 0.19, the peer: installed apart, run in its own process, asked in turn.

It lives in a virtual environment of its own, so that nothing of it reaches ours. No
model is called: the summary is replaced by a fixed text (`peer_worker.py`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.rows import Skipped

REQUIREMENT = "hermes-agent==0.19.0"
WORKER = Path(__file__).with_name("peer_worker.py")
_INSTALL_SECONDS = 900


class Peer:
    """Hermes in its own process; started when first asked.

    `folder` keeps its environment from one run of the benchmark to the next. Raises
    Skipped where it is not installed and may not be, or cannot be had.
    """

    def __init__(self, folder: Path, *, may_install: bool) -> None:
        self._folder = folder
        self._may_install = may_install
        self._home = tempfile.TemporaryDirectory(prefix="bench-hermes-home-")
        self._process: subprocess.Popen[str] | None = None
        self._missing = ""

    def ask(self, task: str, **parameters: Any) -> Any:
        """Let the peer do one task and return what it answers."""
        process = self._started()
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({"task": task, **parameters}) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{REQUIREMENT} stopped during {task}")
        told = json.loads(answer)
        if "error" in told:
            raise RuntimeError(f"{REQUIREMENT} failed in {task}: {told['error']}")
        return told["answer"]

    def seconds(self, task: str, **parameters: Any) -> Callable[[], float]:
        """Return a function that lets the peer measure a task in CPU seconds."""
        return lambda: float(self.ask(task, **parameters))

    def close(self) -> None:
        """End the process and remove the home it wrote to."""
        if self._process is not None:
            assert self._process.stdin
            with suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait(timeout=30)
        self._home.cleanup()

    def _started(self) -> subprocess.Popen[str]:
        if self._missing:
            raise Skipped(self._missing)
        if self._process is None:
            try:
                python = self._installed()
            except Skipped as reason:
                self._missing = str(reason)
                raise
            self._process = subprocess.Popen(
                [str(python), "-P", str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=_environment(self._home.name),
            )
        return self._process

    def _installed(self) -> Path:
        python = self._folder / "bin" / "python"
        if _has_peer(python):
            return python
        if not self._may_install:
            raise Skipped(f"{REQUIREMENT} is not installed; make bench installs it")
        _run([sys.executable, "-m", "venv", "--clear", str(self._folder)])
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
        _run([*pip, "--quiet", REQUIREMENT])
        return python


def _has_peer(python: Path) -> bool:
    if not python.exists():
        return False
    name, version = REQUIREMENT.split("==")
    code = f"from importlib.metadata import version; print(version({name!r}))"
    found = subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() == version


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=_INSTALL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Skipped(f"{REQUIREMENT} cannot be installed: {error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise Skipped(f"{REQUIREMENT} cannot be installed: {said[-1]}")


def _environment(home: str) -> dict[str, str]:
    """No key, no home of a real Hermes; its own redaction is on."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {"HOME": home, "HERMES_HOME": home, "HERMES_REDACT_SECRETS": "true"}
