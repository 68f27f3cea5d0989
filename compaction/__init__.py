"""The console: engine, sources, models, services and pages of compaction."""

from __future__ import annotations
