"""All rows, in the order they are printed."""

from __future__ import annotations

from bench.quality import attack_rows, hygiene_rows, log_rows, retention_rows

ROWS = (*retention_rows.ROWS, *attack_rows.ROWS, *hygiene_rows.ROWS, *log_rows.ROWS)
