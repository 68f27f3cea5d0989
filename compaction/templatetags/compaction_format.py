"""Template filters that turn numbers, times and foreign text into words.

Numbers are tokens, seconds, bytes or ratios, as the name of the filter says. A value
that is missing becomes "–": an operator must see that something is unknown and not
read a zero.
"""

from __future__ import annotations

import unicodedata
from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.translation import gettext, ngettext

register = template.Library()

MISSING = "–"
ELLIPSIS = "…"
_THIN = "\N{NO-BREAK SPACE}"
_DAY = 86_400
# Format characters that reorder or hide the text around them.
_BIDI = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_KEPT_CONTROLS = frozenset("\n\t")

_TONES = {
    "ok": "ok",
    "running": "ok",
    "queued": "info",
    "in_progress": "busy",
    "completed": "done",
    "failed": "bad",
    "cancelled": "off",
    "summarised": "done",
    "pruned": "done",
    "noop": "off",
    "stuck": "bad",
    "aborted": "warn",
    "deferred": "info",
    "cooldown": "warn",
    "over_threshold": "warn",
    "near_threshold": "warn",
    "idle": "off",
    "ended": "off",
    "error": "bad",
    "warning": "warn",
    "info": "info",
}


@register.filter
def tokens(count: int | float | None) -> str:
    """A count with thousands separated: 141208 -> "141,208"."""
    return MISSING if count is None or count == "" else f"{round(count):,}"


@register.filter
def tokens_short(count: int | None) -> str:
    """A count for a narrow place: 200000 -> "200K", 1048576 -> "1.0M"."""
    if count is None or count == "":
        return MISSING
    if count < 1_000:
        return str(count)
    if count < 1_000_000:
        return f"{count / 1_000:.0f}K" if count >= 10_000 else f"{count / 1_000:.1f}K"
    return f"{count / 1_000_000:.1f}M"


@register.filter
def change(count: int | float | None) -> str:
    """A difference with its sign: -61300 -> "−61,300", 12 -> "+12"."""
    if count is None or count == "":
        return MISSING
    sign = "−" if count < 0 else "+" if count > 0 else "±"
    return f"{sign}{abs(round(count)):,}"


@register.filter
def percent(ratio: float | None) -> str:
    """A ratio as per cent: 0.706 -> "71 %"; below 10 % with one decimal."""
    if ratio is None or ratio == "":
        return MISSING
    value = ratio * 100
    digits = 1 if 0 < abs(value) < 10 and round(value, 1) != round(value) else 0
    return f"{value:.{digits}f}{_THIN}%".replace("-", "−")


@register.filter
def share(part: float | None, whole: float | None) -> str:
    """What per cent `part` is of `whole`; "–" when the whole is unknown or zero."""
    return percent(part / whole) if part is not None and whole else MISSING


@register.filter
def duration(seconds: float | timedelta | None) -> str:
    """Seconds as a person says them: 222 -> "3 min 42 s", 0.42 -> "420 ms"."""
    if seconds is None or seconds == "":
        return MISSING
    if isinstance(seconds, timedelta):
        seconds = seconds.total_seconds()
    if 0 < seconds < 1:
        return _join((round(seconds * 1000), gettext("ms")))
    if seconds < 10 and seconds != int(seconds):
        return f"{seconds:.1f}{_THIN}{gettext('s')}"
    return _split_duration(round(seconds))


def _split_duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes_left = divmod(minutes, 60)
    days, hours_left = divmod(hours, 24)
    if days:
        return _join((days, gettext("d")), (hours_left, gettext("h")))
    if hours:
        return _join((hours, gettext("h")), (minutes_left, gettext("min")))
    if minutes:
        return _join((minutes, gettext("min")), (rest, gettext("s")))
    return _join((rest, gettext("s"))) or f"0{_THIN}{gettext('s')}"


def _join(*pairs: tuple[int, str]) -> str:
    return " ".join(f"{number}{_THIN}{unit}" for number, unit in pairs if number)


@register.filter(name="bytes")
def size_in_bytes(count: int | None) -> str:
    """Bytes in steps of 1,024: 10485760 -> "10.0 MB"."""
    if count is None or count == "":
        return MISSING
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            digits = 0 if unit == "B" else 1
            return f"{size:.{digits}f}{_THIN}{unit}"
        size /= 1024
    return MISSING


@register.filter
def ago(moment: datetime | None) -> str:
    """How long ago, in the largest fitting unit: "12 s ago", "3 days ago"."""
    if not moment:
        return MISSING
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 0:
        return gettext("in %(span)s") % {"span": _span(-seconds)}
    if seconds < 2:
        return gettext("now")
    return gettext("%(span)s ago") % {"span": _span(seconds)}


def _span(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f}{_THIN}{gettext('s')}"
    if seconds < 3_600:
        return f"{seconds / 60:.0f}{_THIN}{gettext('min')}"
    if seconds < _DAY:
        return f"{seconds / 3_600:.0f}{_THIN}{gettext('h')}"
    days = round(seconds / _DAY)
    return ngettext("%(days)d day", "%(days)d days", days) % {"days": days}


@register.filter
def clip(text: str | None, limit: int = 200) -> str:
    """The first `limit` characters of a foreign text, made visible, with "…"."""
    if not text:
        return ""
    head = text[:limit]
    return visible(head) + (ELLIPSIS if len(text) > len(head) else "")


@register.filter
def visible(text: str | None) -> str:
    """A foreign text that can be shown: nothing in it stays hidden or breaks a page.

    Lone surrogates (not encodable as UTF-8) become U+FFFD, control characters their
    picture (NUL -> "␀"), marks that reorder text their code, as in "⟨U+202E⟩". Line
    breaks and tabs stay. HTML is escaped by the template as always.
    """
    if not text:
        return ""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_show_character, text))


def _show_character(char: str) -> str:
    if char in _KEPT_CONTROLS or char.isprintable():
        return char
    if char in _BIDI:
        return f"⟨U+{ord(char):04X}⟩"
    category = unicodedata.category(char)
    if category == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    if category == "Cc":
        return chr(0x2400 + ord(char)) if ord(char) < 0x20 else "␡"
    return char


@register.filter
def tone(state: str | None) -> str:
    """The class that colours a state, outcome or status: "stuck" -> "bad"."""
    return _TONES.get(str(state), "off")
