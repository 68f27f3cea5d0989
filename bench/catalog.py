"""All rows, in the order they are printed."""

from __future__ import annotations

from bench import engine_rows, import_rows, page_rows, redaction_rows, token_rows

ROWS = (
    *engine_rows.ROWS,
    *redaction_rows.ROWS,
    *token_rows.ROWS,
    *import_rows.ROWS,
    *page_rows.ROWS,
)
