"""The console as it is started, watched and stopped."""

from __future__ import annotations
