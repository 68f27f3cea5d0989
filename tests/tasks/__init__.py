"""Tests of tasks."""

from __future__ import annotations
