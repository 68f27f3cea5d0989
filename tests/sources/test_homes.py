"""Finding Hermes on a machine, given its environment and home directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from compaction.sources import find_hermes_homes
from tests.sources.hermes_home import HermesHome


def _home(folder: Path) -> Path:
    folder.mkdir(parents=True)
    HermesHome(folder / "state.db").db.close()
    return folder


def test_a_machine_without_hermes_has_none(tmp_path: Path):
    assert find_hermes_homes({}, tmp_path) == ()


def test_the_default_home_and_its_profiles_are_found(tmp_path: Path):
    root = _home(tmp_path / ".hermes")
    coder = _home(root / "profiles" / "coder")
    (root / "profiles" / "empty").mkdir()
    assert find_hermes_homes({}, tmp_path) == (root, coder)


def test_the_environment_comes_first_and_nothing_twice(tmp_path: Path):
    default = _home(tmp_path / ".hermes")
    other = _home(tmp_path / "elsewhere")
    found = find_hermes_homes({"HERMES_HOME": str(other)}, tmp_path)
    assert found == (other, default)
    assert find_hermes_homes({"HERMES_HOME": f" {default} "}, tmp_path) == (default,)


def test_windows_keeps_it_in_local_app_data(tmp_path: Path):
    home = _home(tmp_path / "hermes")
    found = find_hermes_homes({"LOCALAPPDATA": str(tmp_path)}, tmp_path / "user")
    assert found == (home,)


@pytest.mark.parametrize("content", [b"", b"not a database at all"])
def test_a_file_named_like_the_database_is_not_enough(tmp_path: Path, content: bytes):
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "state.db").write_bytes(content)
    assert find_hermes_homes({}, tmp_path) == ()


def test_strange_paths_are_not_an_error(tmp_path: Path):
    (tmp_path / ".hermes" / "state.db").mkdir(parents=True)
    for value in ("\x00", "", "   ", "/dev/null", "x" * 5_000):
        assert find_hermes_homes({"HERMES_HOME": value}, tmp_path) == ()
