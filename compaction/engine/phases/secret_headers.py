"""Secrets known by where they stand: headers, cookies, addresses, command lines."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

from compaction.engine.phases.secret_values import Looks, look

Tally = Callable[[str], None]

_SCHEME = re.compile(
    r"(?P<head>(?:uthorization|UTHORIZATION)\\{0,7}[\"'`]?\s{0,3}[:=,]\s{0,3}"
    r"[bf]?\\{0,7}[\"'`]?(?:(?:Bearer|bearer|BEARER|Basic|basic|Token|token|ApiKey"
    r"|Bot|Digest|Negotiate)[ ]{1,3})?)(?P<value>[A-Za-z0-9._~+/=:-]{8,}+)"
)
_BEARER = re.compile(r"(?P<head>earer[ ]{1,3})(?P<value>[A-Za-z0-9._~+/=-]{12,}+)")
_BASIC = re.compile(r"(?P<head>asic[ ])(?P<value>[A-Za-z0-9+/]{8,}+={0,2})")
_COOKIE = re.compile(
    r"(?P<head>(?:ookie|OOKIE)\\{0,7}[\"'`]?\s{0,3}[:=,]\s{0,3}\\{0,7}[\"'`]?)"
    r"(?P<value>[^\s=;,\"'\\]{1,64}=[^\r\n\"'\\]++)"
)
_COOKIE_PAIR = re.compile(r"(?P<head>(?:^|;)\s*[^=;]++=)(?P<value>[^;\s]{6,}+)")
_COOKIE_ATTRIBUTE = re.compile(
    r"[;\s]*(?:path|domain|expires|max-age|samesite|version|priority)=", re.IGNORECASE
)

_USERINFO = re.compile(
    r"(?P<head>://[^\s/@:\[\"'`<>\\]{0,64}+:)(?!\[redacted\]@)"
    r"(?P<value>[^\s/\"'`<>\\]{1,256})(?=@)"
)
_USER_ONLY = re.compile(r"(?P<head>://)(?P<value>[A-Za-z0-9_-]{20,128}+)(?=@)")
_WEBHOOK = re.compile(
    r"(?P<head>hooks\.slack\.com/(?:services|workflows|triggers)/|/api/webhooks/\d+/"
    r"|api\.telegram\.org/bot)(?P<value>[\w/:-]{16,}+)"
)

_FLAG_VALUE = (
    r"(?:[ \t]{1,4}|\\{0,7}[\"'],[ \t\r\n]{0,12}\\{0,7}[\"'])\\{0,7}[\"']?)"
    r"(?P<value>[^\s\"'`|<>\\-][^\s\"'`|<>\\]{3,}+)"
)
_FLAG_NAME = (
    r"(?P<head>--(?:(?!pass|pwd|secret|token|api|key|auth)[a-z0-9]{1,16}-){0,3}+"
)
_PASSWORD_FLAG = re.compile(
    _FLAG_NAME + r"(?:password|passwd|passphrase|pass|pwd)" + _FLAG_VALUE
)
_KEY_FLAG = re.compile(
    _FLAG_NAME + r"(?:secret|token|api-key|apikey|key|auth)(?:-[a-z]+)?" + _FLAG_VALUE
)
_USER_FLAG = re.compile(
    r"(?P<head>(?:-u|--user|--proxy-user)[ =]?[\"']?[\w.@-]{1,64}:)"
    r"(?P<value>[^\s\"'`|<>\\]{4,}+)"
)
_SHORT_FLAG = re.compile(
    r"(?P<head>[ ]-p(?:[ ]?[\"'])?|[ ]-p[ ]|[ ]-a[ ])"
    r"(?P<value>[^\s\"'`|<>\\-][^\s\"'`|<>\\]{3,}+)"
)
_CLIENT = re.compile(r"\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass|redis-cli)\b")
_ENV_LINE = re.compile(
    r"(?P<head>ENV [A-Z0-9_]{0,40}?(?:PASSWORD|PASS|SECRET|TOKEN|KEY)"
    r"[A-Z0-9_]{0,20}+[ ])"
    r"(?P<value>[^\s\"'`|<>\\]{4,}+)"
)
_NETRC = re.compile(
    r"(?P<head>login[ ][^\s]{1,64}\s{1,4}password[ ])(?P<value>[^\s\"'`]{4,}+)"
)
_IDENTIFIED = re.compile(
    r"(?P<head>(?:IDENTIFIED|identified) (?:BY|by) ['\"])(?P<value>[^\s'\"]{3,}+)"
)

_RANDOM: frozenset[Looks] = frozenset({"opaque"})
_NOT_PROSE: frozenset[Looks] = frozenset({"opaque", "short", "other"})
_REAL: frozenset[Looks] = _NOT_PROSE | {"number", "word", "known"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place where secrets stand: the `value` that follows the `head`.

    One of the `gates` must be in the text, none where a search is as fast as a gate
    (the pattern begins with letters); the value must look like one of `looks`; `after`
    must occur in the 120 characters before it.
    """

    kind: str
    pattern: re.Pattern[str]
    gates: tuple[str, ...] = ()
    looks: frozenset[Looks] = _REAL
    after: re.Pattern[str] | None = None


_SLACK = ("hooks.slack", "/api/webhooks/", "telegram.org/bot")
_SCHEMES = ("uthorization", "UTHORIZATION")
_IDENTIFIED_BY = ("IDENTIFIED", "identified")
PLACES = (
    Place(kind="authorization", gates=_SCHEMES, pattern=_SCHEME, looks=_NOT_PROSE),
    Place(kind="bearer", pattern=_BEARER, looks=_RANDOM),
    Place(kind="url-login", pattern=_USERINFO, looks=_REAL | {"path"}),
    Place(kind="url-login", pattern=_USER_ONLY, looks=_RANDOM),
    Place(kind="webhook", gates=_SLACK, pattern=_WEBHOOK),
    Place(kind="flag", pattern=_PASSWORD_FLAG),
    Place(kind="flag", pattern=_KEY_FLAG, looks=_RANDOM),
    Place(
        kind="flag",
        pattern=_USER_FLAG,
        looks=_NOT_PROSE | {"word"},
    ),
    Place(kind="flag", gates=(" -p", " -a"), pattern=_SHORT_FLAG, after=_CLIENT),
    Place(
        kind="environment",
        pattern=_ENV_LINE,
        looks=_NOT_PROSE | {"number", "word"},
    ),
    Place(kind="netrc", pattern=_NETRC),
    Place(kind="sql", gates=_IDENTIFIED_BY, pattern=_IDENTIFIED),
)


def mask_by_place(text: str, tally: Tally) -> str:
    """Mask secrets in headers, cookies, addresses and on command lines."""
    if "ookie" in text or "OOKIE" in text:
        text = _COOKIE.sub(lambda match: _mask_cookies(match, tally), text)
    if "asic " in text:
        text = _BASIC.sub(lambda match: _mask_basic(match, tally), text)
    for place in PLACES:
        if not place.gates or _holds_one(text, place.gates):
            text = _mask(text, place, tally)
    return text


def _holds_one(text: str, gates: tuple[str, ...]) -> bool:
    for gate in gates:  # noqa: SIM110 - any() costs as much as the search itself
        if gate in text:
            return True
    return False


def _mask(text: str, place: Place, tally: Tally) -> str:
    def judge(match: re.Match[str]) -> str:
        if not _stands_after(match, place.after):
            return match.group()
        if look(match["value"], quoted=False) not in place.looks:
            return match.group()
        tally(place.kind)
        return f"{match['head']}[redacted]"

    return place.pattern.sub(judge, text)


def _stands_after(match: re.Match[str], needed: re.Pattern[str] | None) -> bool:
    if needed is None:
        return True
    start = match.start()
    line = match.string[max(0, start - 120) : start].rpartition("\n")[2]
    return needed.search(line) is not None


def _mask_cookies(match: re.Match[str], tally: Tally) -> str:
    def judge(pair: re.Match[str]) -> str:
        harmless = _COOKIE_ATTRIBUTE.match(pair["head"])
        if harmless or look(pair["value"], quoted=True) != "opaque":
            return pair.group()
        tally("cookie")
        return f"{pair['head']}[redacted]"

    return match["head"] + _COOKIE_PAIR.sub(judge, match["value"])


def _mask_basic(match: re.Match[str], tally: Tally) -> str:
    """Mask only what really is base64 of `user:password`."""
    try:
        login = base64.b64decode(match["value"][:400], validate=True)
    except (binascii.Error, ValueError):
        return match.group()
    if b":" not in login:
        return match.group()
    tally("basic")
    return f"{match['head']}[redacted]"
