"""Tests of faults."""

from __future__ import annotations
