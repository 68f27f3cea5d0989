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


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "decisions").glob("0*.md")))
def test_a_decision_fits_on_a_page(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40
