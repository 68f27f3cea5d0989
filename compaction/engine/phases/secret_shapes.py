"""Secrets known by their shape: keys with a vendor's prefix, JWT, PEM, webhooks.

All long words of a text are found in one pass and looked up by their beginning, so a
new vendor costs a line here and no time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

Tally = Callable[[str], None]


def _shapes(
    *rows: tuple[str, str, str],
) -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """Index rows of (kind, literal beginning, rest as a pattern) by two letters."""
    index: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for kind, beginnings, rest in rows:
        for beginning in beginnings.split():
            pattern = re.compile(re.escape(beginning) + rest)
            index.setdefault(beginning[:2], []).append((kind, pattern))
    return index


_ALNUM = "[A-Za-z0-9]"
_RANDOM = r"(?=[^0-9]*[0-9])[\w.-]"  # at least one digit follows

SHAPES: Mapping[str, list[tuple[str, re.Pattern[str]]]] = _shapes(
    ("anthropic", "sk-ant-", r"[\w-]{8,}"),
    ("openai", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{8,}"),
    ("openrouter", "sk-or-", r"[\w-]{12,}"),
    ("langfuse", "sk-lf-", r"[\w-]{12,}"),
    ("api-key", "sk- rk- ak-", rf"(?:(?=[\w-]*[0-9]){_ALNUM}{{12,}}|{_ALNUM}{{20,}})"),
    ("stripe", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"\w{8,}"),
    ("github", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9_]{16,}"),
    ("github", "github_pat_", r"\w{16,}"),
    (
        "gitlab",
        "glpat- gldt- glrt- glptt- glcbt- glft- glagent- glsoat-",
        r"[\w.-]{12,}",
    ),
    ("slack", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxc- xoxd- xapp-", r"[\w.-]{8,}"),
    ("slack", "xoxe.", r"[\w.-]{12,}"),
    ("aws", "AKIA ASIA ABIA ACCA A3TX", r"[A-Z0-9]{12,}\Z"),
    ("google", "AIza", r"[\w-]{20,}"),
    ("google", "ya29.", r"[\w.-]{12,}"),
    ("google", "GOCSPX-", r"[\w-]{12,}"),
    ("google", "1//0", r"[\w-]{20,}"),
    ("huggingface", "hf_ api_org_", rf"{_ALNUM}{{14,}}"),
    ("npm", "npm_", rf"{_ALNUM}{{20,}}"),
    ("pypi", "pypi-", r"[\w-]{16,}"),
    ("rubygems", "rubygems_", r"[0-9a-f]{16,}"),
    ("sendgrid", "SG.", r"[\w-]{12,}\.[\w-]{12,}"),
    ("mailgun", "key-", r"[0-9a-f]{24,}"),
    ("mailchimp", "md-", rf"{_ALNUM}{{20,}}"),
    ("twilio", "SK AC", r"[0-9a-f]{32}\Z"),
    ("square", "sq0atp- sq0csp- sq0idp- EAAA", r"[\w-]{20,}"),
    ("shopify", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{16,}"),
    ("digitalocean", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{16,}"),
    ("databricks", "dapi", r"[0-9a-f]{32}"),
    ("groq", "gsk_", rf"{_ALNUM}{{16,}}"),
    ("xai", "xai-", rf"{_ALNUM}{{16,}}"),
    ("perplexity", "pplx-", rf"{_ALNUM}{{16,}}"),
    ("replicate", "r8_", rf"{_ALNUM}{{16,}}"),
    ("tavily", "tvly-", r"[\w-]{12,}"),
    ("nvidia", "nvapi-", r"[\w-]{20,}"),
    ("supabase", "sbp_ sb_secret_", r"\w{16,}"),
    ("notion", "ntn_", rf"{_ALNUM}{{16,}}"),
    ("notion", "secret_", rf"(?=[^0-9]*[0-9]){_ALNUM}{{32,}}"),
    ("linear", "lin_api_ lin_oauth_", rf"{_ALNUM}{{16,}}"),
    ("figma", "figd_ figo_", r"[\w-]{16,}"),
    ("postman", "PMAK-", r"[\w-]{20,}"),
    ("atlassian", "ATATT3 ATCTT3 ATBB", r"[\w-]{16,}"),
    ("grafana", "glsa_ glc_", r"\w{16,}"),
    ("newrelic", "NRAK- NRJS- NRII-", r"[\w-]{16,}"),
    ("sentry", "sntrys_ sntryu_", r"[\w=+-]{16,}"),
    ("doppler", "dp.pt. dp.st. dp.ct. dp.sa.", r"[\w.-]{16,}"),
    ("docker", "dckr_pat_ dckr_oat_", r"[\w-]{16,}"),
    ("langsmith", "lsv2_pt_ lsv2_sk_", r"\w{16,}"),
    ("vault", "hvs. hvb. hvr.", r"[\w-]{12,}"),
    ("pulumi", "pul-", r"[0-9a-f]{16,}"),
    ("tailscale", "tskey-", r"[\w-]{12,}"),
    ("flyio", "fo1_ fm2_", r"[\w+/=-]{16,}"),
    ("age", "AGE-SECRET-KEY-1", r"[A-Z0-9]{16,}"),
    ("firecrawl", "fc-", r"[0-9a-f]{24,}"),
    ("jina", "jina_", rf"{_ALNUM}{{20,}}"),
    ("facebook", "EAAC EAAB EAAG", rf"{_ALNUM}{{40,}}"),
    ("planetscale", "pscale_tkn_ pscale_pw_", r"[\w.-]{16,}"),
    ("nuget", "oy2", r"[a-z0-9]{40}\Z"),
    ("jwt", "eyJ", r"[\w-]{8,}\.[\w-]{8,}"),
)

_DISCORD = r"[MNO][A-Za-z0-9]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{25}"
_TELEGRAM = r"(?<=[0-9]:)AA[A-Za-z0-9_-]{32}"


def _beginnings() -> str:
    """Return a pattern for the two letters that a known key begins with."""
    seconds: dict[str, str] = {}
    for pair in sorted(SHAPES):
        seconds[pair[0]] = seconds.get(pair[0], "") + pair[1]
    return "|".join(f"{first}[{letters}]" for first, letters in seconds.items())


_LONG_WORD = re.compile(
    r"[^A-Za-z0-9_.-](?:(?<=\\)[nrt])?+(?=[A-Za-z0-9_.-]{16})"
    rf"(?:(?P<discord>{_DISCORD})|(?P<telegram>{_TELEGRAM})"
    rf"|(?P<word>(?={_beginnings()})[A-Za-z0-9_.-]++))"
)


def mask_known_shapes(text: str, tally: Tally) -> str:
    """Mask the keys and tokens whose shape is known."""

    def judge(match: re.Match[str]) -> str:
        group = match.lastgroup or ""
        word = match[group].rstrip(".-")
        kind = whose_key(word) if group == "word" else group
        if kind is None:
            return match.group()
        tally(kind)
        start = match.start(group) - match.start()
        whole = match.group()
        return f"{whole[:start]}[redacted:{kind}]{whole[start + len(word) :]}"

    return _LONG_WORD.sub(judge, f"\n{text}")[1:]


def whose_key(word: str) -> str | None:
    """Return the vendor of a key, None when the word is no known key."""
    for kind, pattern in SHAPES.get(word[:2], ()):
        if pattern.match(word):
            return kind
    return None


# PEM

_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_REST = re.compile(
    r"(?:[A-Za-z0-9+/=]{16,}+|\\+[nr]|\s|[A-Za-z0-9+/=]{1,76}+(?=\s*-))*+"
)
_PEM_MOST = 16_384  # characters of the longest key


def mask_private_keys(text: str, tally: Tally) -> str:
    """Mask PEM private keys, also those whose end was cut off."""
    if "PRIVATE KEY" not in text:
        return text
    kept: list[str] = []
    done = closing = 0
    for begin in _PEM_BEGIN.finditer(text):
        if begin.start() < done:
            continue
        if 0 <= closing < begin.end():
            closing = text.find("-----END", begin.end())
        kept += (text[done : begin.start()], "[redacted:private-key]")
        done = _pem_end(text, begin.end(), closing)
        tally("private-key")
    return "".join(kept) + text[done:]


def _pem_end(text: str, start: int, closing: int) -> int:
    if start <= closing <= start + _PEM_MOST:
        end = text.find("-----", closing + 8)
        return end + 5 if 0 <= end <= closing + 80 else closing + 8
    rest = _PEM_REST.match(text, start)
    return rest.end() if rest else start
