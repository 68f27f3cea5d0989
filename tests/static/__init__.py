"""What the browser is given."""

from __future__ import annotations
