"""What to do when a call fails: classify, wait, continue, or take another endpoint."""

from __future__ import annotations
