"""All rows, in the order they are printed."""

from __future__ import annotations

from bench import engine_rows

ROWS = (*engine_rows.ROWS,)
