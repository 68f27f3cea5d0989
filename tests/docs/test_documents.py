"""Documents name what is there: variables, files, make targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
READS = re.compile(r"(?:environ\.get|environ\[|read_\w+)\(?\s*\"([A-Z][A-Z_]+)\"")


def test_operating_lists_every_variable_that_settings_read():
    settings = (ROOT / "hermes_web" / "settings.py").read_text(encoding="utf-8")
    table = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")

    read = set(READS.findall(settings))

    assert {"DATABASE_URL", "HERMES_WEB_HTTPS", "SUMMARISER_MODEL"} <= read
    assert {name for name in read if f"`{name}`" not in table} == set()


@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)
def test_links_between_documents_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")

    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)

    missing = [name for name in targets if not (document.parent / name).exists()]
    assert missing == []


@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)
def test_make_targets_that_documents_name_exist(document):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    there = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))

    text = document.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^ {4}|`)make ([a-z-]+)", text, flags=re.MULTILINE))

    assert named <= there


def test_every_package_we_chose_has_its_reason():
    chosen = (ROOT / "requirements.in").read_text(encoding="utf-8")
    reasons = (ROOT / "docs/decisions/0002-dependencies.md").read_text(encoding="utf-8")

    names = re.findall(r"^([a-z][a-z-]*)", chosen, flags=re.MULTILINE)

    assert "django" in names
    assert [name for name in names if name not in reasons] == []


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_lock_files_hold_hashes_and_no_address(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()

    pins = [line for line in lines if re.match(r"[a-z]", line)]

    assert len(pins) > 30
    assert all("==" in pin and pin.endswith("\\") for pin in pins)
    assert not [line for line in lines if "://" in line or line.startswith("-")]


def test_both_lock_files_name_the_same_versions():
    def versions(name):
        text = (ROOT / name).read_text(encoding="utf-8")
        return dict(re.findall(r"^([a-z0-9-]+)(?:\[\w+\])?==(\S+)", text, re.MULTILINE))

    run, dev = versions("requirements.txt"), versions("requirements-dev.txt")

    assert run.items() <= dev.items()
