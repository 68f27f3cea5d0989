"""Tests of the readers of foreign logs."""

from __future__ import annotations
