"""What the documents promise."""

from __future__ import annotations
