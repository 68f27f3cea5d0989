"""Where real conversations lie that are not ours to commit.

Tests read them in place and skip with a reason when they are absent.
`HERMES_WEB_SHARED` names the folder; by default `shared` beside the checkout.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2] / "shared"

SHARED = Path(os.environ.get("HERMES_WEB_SHARED") or _BESIDE)
TRANSCRIPTS = SHARED / "transcripts"
RAW_TRANSCRIPTS = TRANSCRIPTS / "raw"
HERMES_STATE = SHARED / "hermes" / "state"
CASES = SHARED / "cases"


def needs(path: Path) -> pytest.MarkDecorator:
    """Skip a test when the shared file or folder it reads is absent."""
    return pytest.mark.skipif(
        not path.exists(),
        reason=f"shared data absent: {path} (set HERMES_WEB_SHARED)",
    )


def files_in(folder: Path, pattern: str = "*") -> list[Path]:
    """Return the sorted files of a shared folder; none when it is absent."""
    return sorted(path for path in folder.glob(pattern) if path.is_file())
