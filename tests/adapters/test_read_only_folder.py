"""Files of one folder and nothing else, whatever path a model sends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from compaction.adapters.read_only_folder import (
    MAX_BYTES,
    FolderRefused,
    ReadOnlyFolder,
)

SECRET = "the secret outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside.txt").write_text(SECRET)
    inside = tmp_path / "project"
    (inside / "src").mkdir(parents=True)
    (inside / "README.md").write_text("# Orchard\nTidy it.\n")
    (inside / "src" / "row.py").write_text("def row():\n    return 'apple'\n")
    (inside / "link.txt").symlink_to(tmp_path / "outside.txt")
    (inside / "up").symlink_to(tmp_path)
    (inside / "loop").symlink_to(inside)
    return inside


@pytest.fixture
def folder(root: Path) -> ReadOnlyFolder:
    return ReadOnlyFolder(root)


def test_files_and_folders_are_read(folder: ReadOnlyFolder):
    assert folder.read("README.md") == "# Orchard\nTidy it.\n"
    assert folder.read("./src//row.py").startswith("def row")
    names = [(entry.name, entry.size) for entry in folder.entries()]
    assert names == [("README.md", 19), ("src", None)]
    assert [entry.name for entry in folder.entries("src/")] == ["row.py"]


@pytest.mark.parametrize(
    "path",
    [
        "../outside.txt",
        "src/../../outside.txt",
        "/etc/passwd",
        "~/x",
        "link.txt",
        "up/outside.txt",
        "loop/README.md",
        "src\\..\\..\\outside.txt",
        "README.md\x00",
        "README.md/x",
        "src",
        "",
        "nothing.txt",
        "a/" * 60,
        "x" * 5_000,
        "\ud800",
    ],
)
def test_no_path_leads_elsewhere(folder: ReadOnlyFolder, path: str):
    with pytest.raises(FolderRefused) as refused:
        folder.read(path)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("path", ["..", "/", "up", "loop", "src/..", "README.md"])
def test_no_folder_elsewhere_is_listed_or_searched(folder: ReadOnlyFolder, path: str):
    with pytest.raises(FolderRefused):
        folder.entries(path)
    with pytest.raises(FolderRefused):
        folder.search("secret", path)


NAMES = st.sampled_from(
    ["..", ".", "", "src", "up", "loop", "link.txt", "outside.txt", "README.md", "~"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NAMES, max_size=8), st.booleans())
def test_no_combination_of_names_reads_outside(root: Path, names: list[str], slash):
    path = "/" * slash + "/".join(names)
    try:
        text = ReadOnlyFolder(root).read(path)
    except FolderRefused:
        return
    assert SECRET not in text


def test_a_folder_that_becomes_a_link_between_two_steps_is_not_followed(
    root: Path, folder: ReadOnlyFolder, monkeypatch
):
    """Time of check, time of use: there is no check apart from the opening."""
    opened = os.open

    def swap_then_open(name, flags, *args, **given):
        if name == "src":
            (root / "src").rename(root / "moved")
            (root / "src").symlink_to(root.parent)
        return opened(name, flags, *args, **given)

    monkeypatch.setattr(os, "open", swap_then_open)
    with pytest.raises(FolderRefused):
        folder.read("src/outside.txt")


def test_large_and_binary_files_are_refused(root: Path, folder: ReadOnlyFolder):
    (root / "large.txt").write_bytes(b"x" * (MAX_BYTES + 1))
    (root / "picture.png").write_bytes(b"\x89PNG\x00\x00")
    (root / "latin.txt").write_bytes("größe".encode("latin-1"))
    for name, why in [
        ("large.txt", "larger"),
        ("picture.png", "binary"),
        ("latin.txt", "binary"),
    ]:
        with pytest.raises(FolderRefused, match=why):
            folder.read(name)


def test_a_pipe_neither_hangs_nor_answers(root: Path, folder: ReadOnlyFolder):
    os.mkfifo(root / "pipe")

    with pytest.raises(FolderRefused, match="no plain file"):
        folder.read("pipe")
    assert "pipe" not in [entry.name for entry in folder.entries()]


def test_a_search_finds_lines_and_passes_over_what_it_cannot_read(
    root: Path, folder: ReadOnlyFolder
):
    (root / "picture.png").write_bytes(b"apple\x00")

    hits = folder.search("APPLE")

    assert [(hit.path, hit.line, hit.text) for hit in hits] == [
        ("src/row.py", 2, "return 'apple'")
    ]
    assert folder.search("secret") == []


def test_a_search_returns_a_hundred_lines_at_most(root: Path, folder: ReadOnlyFolder):
    (root / "many.txt").write_text("apple\n" * 1_000)

    assert len(folder.search("apple")) == 100


def test_a_folder_that_is_gone_says_so(tmp_path: Path):
    with pytest.raises(FolderRefused, match="cannot be opened"):
        ReadOnlyFolder(tmp_path / "gone").entries()
