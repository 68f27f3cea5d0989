"""Reads for pages and API; one module per noun, nothing here writes."""

from __future__ import annotations
