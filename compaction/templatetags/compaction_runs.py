"""Template filters about runs: how long something took, how much smaller it became."""

from __future__ import annotations

from datetime import datetime

from django import template

from compaction.templatetags.compaction_format import MISSING, percent

register = template.Library()


@register.filter
def seconds_until(start: datetime | None, end: datetime | None) -> float | None:
    """Seconds between two moments, None when one is unknown."""
    if start is None or end is None:
        return None
    return max(0.0, (end - start).total_seconds())


@register.filter
def change_percent(before: int | None, after: int | None) -> str:
    """The change from one number to another: 200, 50 -> "−75 %"."""
    if not before or after is None:
        return MISSING
    ratio = (after - before) / before
    written = percent(ratio)
    return written if ratio < 0 else f"+{written}"
