"""Template filters that turn numbers, times and foreign text into words.

Numbers are tokens, seconds, bytes or ratios, as the name of the filter says. A value
that is missing becomes "–": an operator must see that something is unknown and not
read a zero.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import TypeVar, cast

from django import template
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext

register = template.Library()

Value = TypeVar("Value")

MISSING = "–"
ELLIPSIS = "…"
_THIN = "\N{NO-BREAK SPACE}"
_DAY = 86_400
# Controls but line break and tab, marks that reorder text, lone surrogates.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

_LOOKS = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}

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


def _dash_when_missing(show: Callable[[Value], str]) -> Callable[[Value | str], str]:
    """Make a filter answer "–" to None and to what a missing variable becomes."""

    @wraps(show)
    def show_or_dash(value: Value | str) -> str:
        if value is None or value == "":
            return MISSING
        return show(cast("Value", value))

    return show_or_dash


@register.filter
@_dash_when_missing
def tokens(count: int | float) -> str:
    """A count with thousands separated: 141208 -> "141,208"."""
    return f"{round(count):,}"


@register.filter
@_dash_when_missing
def tokens_short(count: int) -> str:
    """A count for a narrow place: 200000 -> "200K", 1048576 -> "1.0M"."""
    if count < 1_000:
        return str(count)
    if count < 1_000_000:
        return f"{count / 1_000:.0f}K" if count >= 10_000 else f"{count / 1_000:.1f}K"
    return f"{count / 1_000_000:.1f}M"


@register.filter
@_dash_when_missing
def change(count: int | float) -> str:
    """A difference with its sign: -61300 -> "−61,300", 12 -> "+12"."""
    sign = "−" if count < 0 else "+" if count > 0 else "±"
    return f"{sign}{abs(round(count)):,}"


@register.filter
@_dash_when_missing
def percent(ratio: float) -> str:
    """A ratio as per cent: 0.706 -> "71 %"; below 10 % with one decimal.

    What is not all is not written as all: 0.9997 -> "99.9 %".
    """
    value = ratio * 100
    digits = 1 if 0 < abs(value) < 10 and round(value, 1) != round(value) else 0
    if 99.5 <= abs(value) < 100:
        value, digits = math.trunc(value * 10) / 10, 1
    return f"{value:.{digits}f}{_THIN}%".replace("-", "−")


@register.filter
def share(part: float | None, whole: float | None) -> str:
    """What per cent `part` is of `whole`; "–" when the whole is unknown or zero."""
    return percent(part / whole) if part is not None and whole else MISSING


@register.filter
def absolute(number: float) -> float:
    """The number without its sign."""
    return abs(number)


@register.filter
def over(used: int, limit: int) -> str:
    """By how many tokens `used` exceeds `limit`."""
    return tokens(used - limit)


@register.filter
@_dash_when_missing
def duration(seconds: float | timedelta) -> str:
    """Seconds as a person says them: 222 -> "3 min 42 s", 0.42 -> "420 ms"."""
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
@_dash_when_missing
def size_in_bytes(count: int) -> str:
    """Bytes in steps of 1,024: 10485760 -> "10.0 MB"."""
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            digits = 0 if unit == "B" else 1
            return f"{size:.{digits}f}{_THIN}{unit}"
        size /= 1024
    return MISSING


@register.filter
@_dash_when_missing
def ago(moment: datetime) -> str:
    """How long ago, in the largest fitting unit: "12 s ago", "3 days ago"."""
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 0:
        return gettext("in %(span)s") % {"span": _span(-seconds)}
    if seconds < 2:
        return gettext("now")
    return gettext("%(span)s ago") % {"span": _span(seconds)}


def _span(seconds: float) -> str:
    if seconds < 60:
        return f"{int(seconds)}{_THIN}{gettext('s')}"
    if seconds < 3_600:
        return f"{int(seconds / 60)}{_THIN}{gettext('min')}"
    if seconds < _DAY:
        return f"{int(seconds / 3_600)}{_THIN}{gettext('h')}"
    days = int(seconds / _DAY)
    return ngettext("%(days)d day", "%(days)d days", days) % {"days": days}


@register.simple_tag
def moment(at: datetime | None, mode: str = "ago") -> SafeString:
    """A moment inside a sentence: components/_time.html without space around it.

    `mode` is ago, clock, full or countdown.
    """
    text = render_to_string("components/_time.html", {"at": at, "mode": mode})
    return mark_safe(text.strip())


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
    return _HIDDEN.sub(_show_character, text) if text else ""


def _show_character(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code < 0xA0:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return "\N{REPLACEMENT CHARACTER}"
    return f"⟨U+{code:04X}⟩"


@register.filter
def look(role: str | None) -> str:
    """The class for a role: user, assistant, tool, system; other for a foreign one."""
    return _LOOKS.get(str(role), "other")


@register.filter
def tone(state: str | None) -> str:
    """The class that colours a state, outcome or status: "stuck" -> "bad"."""
    return _TONES.get(str(state), "off")
