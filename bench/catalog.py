"""All rows, in the order they are printed."""

from __future__ import annotations

from bench import (
    convo_rows,
    import_rows,
    list_rows,
    pass_rows,
    plan_rows,
    redaction_rows,
    token_rows,
    turn_rows,
)

ROWS = (
    *plan_rows.ROWS,
    *pass_rows.ROWS,
    *redaction_rows.ROWS,
    *token_rows.ROWS,
    *import_rows.ROWS,
    *list_rows.ROWS,
    *convo_rows.ROWS,
    *turn_rows.ROWS,
)
