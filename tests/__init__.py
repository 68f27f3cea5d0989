"""Tests; the tree mirrors the project's."""

from __future__ import annotations
