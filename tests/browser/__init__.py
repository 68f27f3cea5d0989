"""What only a real browser can show."""

from __future__ import annotations
