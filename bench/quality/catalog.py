"""All rows, in the order they are printed."""

from __future__ import annotations

from bench.quality import hygiene_rows, retention_rows

ROWS = (*retention_rows.ROWS, *hygiene_rows.ROWS)
