"""What operators and workers do: each function is one act, whole or not at all."""

from __future__ import annotations
