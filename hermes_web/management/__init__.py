"""Commands about running the console."""

from __future__ import annotations
