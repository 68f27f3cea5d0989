"""How the console is configured."""

from __future__ import annotations
