"""When a newer statement takes the place of an older one about the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compaction.engine.evidence import markers
from compaction.engine.evidence.wording import content_words, words

_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("tabs?|tabulators?|制表符|制表", "spaces?|空格"),
    ("single[- ]quot(?:es?|ed)|单引号", "double[- ]quot(?:es?|ed)|双引号"),
    (
        "camel ?case|驼峰(?:命名)?",
        "snake[-_ ]?case|下划线(?:命名)?",
        "kebab[- ]?case|连字符(?:命名)?",
        "pascal ?case",
    ),
    (
        *("english|英[文语]", "german|deutsch|德[文语]", "french|法[文语]"),
        *("chinese|mandarin|中文|汉语", "spanish|西班牙[文语]", "japanese|日[文语]"),
        *("italian|意大利[文语]", "portuguese|葡萄牙[文语]", "korean|韩[文语]"),
        *("russian|俄[文语]", "dutch", "turkish", "arabic"),
    ),
    ("british|uk spelling|英式", "american|us spelling|美式"),
    ("light (?:mode|theme)|浅色", "dark (?:mode|theme)|深色"),
    ("merge commits?|合并提交", "rebas(?:e|ing)|变基", "squash(?:ing)?|压缩提交"),
    ("npm", "yarn", "pnpm", "bun"),
    ("metric|公制", "imperial|英制"),
    ("celsius|摄氏度?", "fahrenheit|华氏度?"),
    ("synchronous(?:ly)?|同步", "asynchronous(?:ly)?|async|异步"),
    ("rest(?:ful)? api", "graphql", "grpc"),
    ("mysql", "postgres(?:ql)?", "sqlite", "mariadb"),
    ("unittest", "pytest"),
    ("12[- ]hour|12 ?小时制", "24[- ]hour|24 ?小时制"),
    ("formal(?:ly)?|正式", "informal(?:ly)?|casual(?:ly)?|口语化?"),
    ("staging|预发(?:布)?(?:环境)?", "production|生产环境"),
)
"""Choices of which one at a time can hold; data only."""

_CHOICES = re.compile(
    "(?<![a-z])(?:"
    + "|".join(
        f"(?P<f{family}_{number}>{choice})"
        for family, choices in enumerate(_FAMILIES)
        for number, choice in enumerate(choices)
    )
    + ")(?![a-z])"
)
_REFUSED = re.compile(
    r"(?:\b(?:not|no|never|without|over|from|don't|doesn't|stop|avoid)(?: use| using)?"
    r"|\binstead of|\brather than|\bno longer(?: use)?|不用|不要(?:再)?(?:用|使用)?"
    r"|不再(?:用|使用)?|而不是|而非|不是|别(?:再)?用)\s{0,2}\Z",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|no|none|nothing|nobody|never|without|avoid|don't|dont|doesn't|won't|can't|cannot|mustn't"
    r"|shouldn't|forbidden|prohibited|off[- ]limits)\b|不|别|禁止|严禁|勿",
    re.IGNORECASE,
)


def choices(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield (family, choice, whether it is wanted) for each choice that is named."""
    text = text.lower()
    for found in _CHOICES.finditer(text):
        family, _, choice = (found.lastgroup or "").partition("_")
        refused = _REFUSED.search(text[max(0, found.start() - 24) : found.start()])
        yield family, choice, refused is None


def without_choices(text: str) -> frozenset[str]:
    """Return what a statement is about, apart from what it chooses."""
    return content_words(_CHOICES.sub(" ", text.lower())) - _EVERYWHERE


_EVERYWHERE = words(
    "everywhere throughout there write writ prefer please default always code"
)

_NUMBER = re.compile(r"(?<![\w.])\d[\d,.]*\d|(?<![\w.])\d")


def numbers(text: str) -> frozenset[str]:
    """Return the numbers that a statement names."""
    return frozenset(_NUMBER.findall(text))


_LIMIT = re.compile(
    r"\b(?:exceed|surpass|limit|maximum|minimum)"
    r"|\b(?:than|over|under|above|below|beyond|past|within|at most|at least|up to)"
    r"\s{1,3}[$€£~]?\d"
    r"|超[过出]|[多少大小高低长短早晚快慢]于|最[多少大小高低长短]|至[多少]|[上下]限"
    r"|\d[^\d，。；]{0,6}[以之][上下内外]",
    re.IGNORECASE,
)

_TOKEN = re.compile(r"[\w@/.#+-]*\w|[^\W\d_]")
_POLITE = words(
    "please actually now from here on instead then ok okay so just also again then "
    "today onwards forward going afterwards thanks"
)
_SLOTS = words("with using via use as in at by under runs on")
_ARTICLES = words("the a an this that these those our your my its their")
_LONGEST_VALUE = 2


def fills_same_slot(newer: str, older: str) -> bool:
    """True for two statements that differ in one bare value: `run it with x`, `… y`.

    What is forbidden adds up, and so do paths and what has an article before it: `with
    the parser`, `with the lexer`.
    """
    if _NEGATED.search(newer) or _NEGATED.search(older):
        return False
    left, right = _tokens(newer), _tokens(older)
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while (
        end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]
    ):
        end += 1
    values = left[start : len(left) - end], right[start : len(right) - end]
    same = [*left[:start], *left[len(left) - end :]]
    return (
        start > 0
        and left[start - 1] in _SLOTS
        and all(1 <= len(value) <= _LONGEST_VALUE for value in values)
        and not any(_ARTICLES.intersection(value) for value in values)
        and not any("/" in token for value in values for token in value)
        and len(content_words(" ".join(same))) >= _SAME_WORDS
    )


_SAME_WORDS = 2


def _tokens(text: str) -> list[str]:
    found = (token.lower() for token in _TOKEN.findall(text[:400]))
    return [token for token in found if token not in _POLITE]


def names_other_number(newer: str, older: str) -> bool:
    """True when both name numbers, the newer one its own, and speak of the same.

    Where each has words that the other has not, they speak of two things. What is
    forbidden adds up (`never touch table 0`, `… table 10`) unless the number is a
    limit (`must never exceed 5`, `… 10`).
    """
    if _forbids_by_name(newer) or _forbids_by_name(older):
        return False
    now, before = numbers(newer), numbers(older)
    said, told = content_words(newer) - now, content_words(older) - before
    return bool(before and now - before) and (said <= told or told <= said)


def _forbids_by_name(text: str) -> bool:
    return bool(_NEGATED.search(text)) and not _LIMIT.search(text)


def takes_back(text: str) -> bool:
    """True for a statement that says of itself that it changes an earlier one."""
    return markers.CHANGE.search(text) is not None
