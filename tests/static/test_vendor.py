"""Foreign files are exactly those that were reviewed, with their licences."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

VENDOR = Path(__file__).resolve().parents[2] / "static" / "vendor"
PACKAGES = json.loads((VENDOR / "manifest.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package["folder"])
def test_vendored_files_are_the_reviewed_ones(package):
    folder = VENDOR / package["folder"]

    sums = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name != "LICENSE"
    }

    assert sums == package["sha256"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package["folder"])
def test_a_licence_lies_beside_vendored_files(package):
    text = (VENDOR / package["folder"] / "LICENSE").read_text(encoding="utf-8")

    assert package["version"]
    assert package["licence"] in {"0BSD", "OFL-1.1"}
    assert len(text) > 400


def test_nothing_lies_in_vendor_that_the_manifest_does_not_name():
    found = {path.name for path in VENDOR.iterdir()}

    assert found == {"manifest.json"} | {package["folder"] for package in PACKAGES}
