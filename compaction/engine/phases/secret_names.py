"""Secrets found by the name before them: `password = hunter2`, `"api_key": "…"`.

Unknown vendors have no known shape of a key, but their keys have a name
(hermes#72925). The search starts at the secret word itself and looks a bounded way to
the right; only the candidates it finds are judged: first the name, then the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Literal

from compaction.engine.phases import secret_words as words
from compaction.engine.phases.secret_values import Looks, any_case, look

MASK = "[redacted]"

Tally = Callable[[str], None]
"""Called with the kind of each secret that was masked."""

_QUOTED = (
    r'"(?P<double>(?:[^"\\\r\n]|\\.)++)|'
    r"'(?P<single>(?:[^'\\\r\n]|\\.)++)|"
    r"`(?P<tick>[^`\r\n]++)|"
    r'\\{1,7}+"(?P<escaped>[^"\\\r\n]++)'
)
_BARE = r"(?P<bare>[^\s\"'`,;&|<>\\，。；、]{4,}+)"
_TYPED = (
    r":[ ]?(?:Optional\[)?(?:str|string|String|SecretStr|bytes|final String)\]?"
    r"(?:[ ]?\|[ ]?(?:None|null|undefined))?[ ]?="
)
_SEPARATOR = (
    rf"(?P<separator>{_TYPED}|:=|={{1,3}}>?|!==?|:(?!:)|->|：|＝"
    r"|(?<=\w)>(?=[^<>\s]{3,200}<)|(?<=[ ])(?:is|was|to|\|)(?=[ ])"
    r"|(?<=[ ])(?=[\"'`])|[ ]?(?:是|为))"
)


# The first letter stands in a class of its own: the search skips what is not in it.
_REST_OF_WORD = any_case(
    "ass(?:w(?:or)?d|phrase|code)?|wd|e(?:cret|y)|oken|redentials?|uth(?!or)"
    "|ig(?:nature)?"
)
NAMED_VALUE = re.compile(
    rf"[pPsStTkKcCaA密口令秘私暗](?P<word>{_REST_OF_WORD}|[码令钥牌匙号])"
    r"(?P<ending>[A-Za-z0-9_-]{0,32}+)"
    r"(?:\\{0,7}+[\"'`]\]?)?[ \t]{0,8}+"
    rf"{_SEPARATOR}[ \t]{{0,8}}+[bru]?(?![\\\"'`]{{0,8}}\[redacted)"
    rf"(?:{_QUOTED}|{_BARE})"
)

_NAME_CHARS = re.compile(r"[A-Za-z0-9_-]++|[ ][A-Za-z]{2,12}+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


Names = Literal["nothing", "password", "secret", "key", "environment"]
"""What a name speaks of; `environment` is a key or secret written ACME_TOKEN."""


def mask_named_values(text: str, tally: Tally) -> str:
    """Mask the values of secret names."""
    return _mask(text, tally, _look_inside)


def _mask(
    text: str, tally: Tally, otherwise: Callable[[re.Match[str], str, Tally], str]
) -> str:
    def judge(match: re.Match[str]) -> str:
        group = match.lastgroup or ""
        looks = look(match[group], quoted=group != "bare")
        if looks in _NEVER or not _is_secret(match, group, looks):
            return otherwise(match, group, tally)
        tally("named")
        return replace_group(match, group, MASK)

    return NAMED_VALUE.sub(judge, text)


def replace_group(match: re.Match[str], group: str, new: str) -> str:
    """Return the match with one group of it replaced."""
    start, end = match.span(group)
    offset = match.start()
    whole = match.group()
    return f"{whole[: start - offset]}{new}{whole[end - offset :]}"


def _look_inside(match: re.Match[str], group: str, tally: Tally) -> str:
    """Search a harmless value for names within it, one level deep."""
    value = match[group]
    if len(value) < 12 or not (":" in value or "=" in value):
        return match.group()
    return replace_group(match, group, _mask(value, tally, _leave))


def _leave(match: re.Match[str], group: str, tally: Tally) -> str:  # noqa: ARG001
    return match.group()


def _is_secret(match: re.Match[str], group: str, looks: Looks) -> bool:
    rest, ending, separator, value = match.group("word", "ending", "separator", group)
    text, start = match.string, match.start()
    word = text[start] + rest
    name = what_it_names(_name_before(text, start, word), word, ending)
    if name == "nothing":
        return False
    if separator in _PROSE:
        return _is_told(name, value, looks)
    if looks == "word":
        return _is_secret_word(match, group, name)
    if looks == "phrase":
        return name == "password" and _is_passphrase(value)
    return len(value) >= 3 and looks in _SECRET_LOOKS[name]


def _name_before(text: str, start: int, word: str) -> str:
    """Return what of the name stands before the secret word, at most 40 characters.

    One space may belong to the name of a key, as in `API key`.
    """
    last = text[start - 1 : start]
    if not (last.isalnum() or last in ("_", "-") or (last == " " and word[0] in "kK")):
        return ""
    found = _NAME_CHARS.match(text[max(0, start - 40) : start][::-1])
    return found.group()[::-1] if found else ""


# names


@lru_cache(maxsize=4_096)
def what_it_names(before: str, word: str, ending: str) -> Names:
    """Judge a name: what stands before the secret word, the word, what follows."""
    word = word.lower()
    if word not in words.NAME_WORDS or _runs_on(before, word, ending):
        return "nothing"
    if _parts(ending) & words.HARMLESS_ENDINGS:
        return "nothing"
    kind = _kind_of(before, word)
    return "environment" if _is_environment(before, ending, kind) else kind


def _kind_of(before: str, word: str) -> Names:
    parts = _parts(before)
    if word == "key":
        return "key" if _is_secret_key(before, parts) else "nothing"
    if word in ("auth", "sig", "pass"):
        return _standing_alone(before, word)
    if parts & words.HARMLESS_BEGINNINGS:
        return "nothing"
    if word in words.PASSWORD_WORDS:
        return "password"
    return "secret" if word == "secret" else "key"


def _runs_on(before: str, word: str, ending: str) -> bool:
    """True when the word is only the beginning of another: tokenizer, SECRETARY."""
    first = ending[:1]
    if not first.isalpha():
        return False
    return first.islower() or before[-1:].isupper() or word.isupper()


def _parts(name: str) -> frozenset[str]:
    return frozenset(part.lower() for part in _PARTS.findall(name))


def _is_secret_key(before: str, parts: frozenset[str]) -> bool:
    if parts & words.SECRET_KEY_QUALIFIERS:
        return "public" not in parts
    if parts & words.PLAIN_KEY_QUALIFIERS:
        return False
    return (before[:1].isupper() and before.endswith("_")) or before.startswith("x-")


def _standing_alone(before: str, word: str) -> Names:
    """`auth` and `sig` only as a word of their own, `pass` only as in `DB_PASS`."""
    if word != "pass":
        return "nothing" if before[-1:].isalnum() else "key"
    apart = before.endswith(("_", "-")) and _parts(before).isdisjoint({"to", "by"})
    return "password" if apart else "nothing"


def _is_environment(before: str, ending: str, kind: Names) -> bool:
    name = before + ending
    capitals = "_" in name and name == name.upper()
    return capitals and kind in ("secret", "key")


# values

_PROSE = frozenset({"is", "was", "to", "|", "", "->"})
_NEVER: frozenset[Looks] = frozenset({"placeholder", "code", "path", "known", "prose"})
_ANY: frozenset[Looks] = frozenset({"opaque", "short", "other"})
_SECRET_LOOKS: Mapping[Names, frozenset[Looks]] = {
    "password": _ANY | {"number"},
    "secret": frozenset({"opaque"}),
    "key": frozenset({"opaque"}),
    "environment": _ANY,
}


def _is_told(name: Names, value: str, looks: Looks) -> bool:
    """Judge a value that prose tells: `the password is hunter2`, `token "9f8e…"`."""
    if name == "password":
        return looks in ("opaque", "short")
    return looks == "opaque" and len(value) >= 16


def _is_passphrase(value: str) -> bool:
    """Three plain words or more, none of them out of a sentence."""
    parts = value.split()
    plain = value.replace(" ", "").isalnum() and value.islower()
    return plain and len(parts) >= 3 and words.NO_VALUES.isdisjoint(parts)


_SECRET_WORD = re.compile("|".join(words.SECRET_WORDS))


def _is_secret_word(match: re.Match[str], group: str, name: Names) -> bool:
    """Judge one bare or quoted word without digits, the hardest case.

    In a file of settings it is a value, in code it names a variable.
    """
    value = match[group].rstrip(".:!?")
    lowered = value.lower()
    if not (len(value) >= 4 and value.isalpha()) or _SECRET_WORD.search(lowered):
        return False
    if group != "bare":
        return name != "key" and (name == "password" or len(value) >= 6)
    if match.string[match.end() : match.end() + 1] in (",", "(", ";"):
        return False
    spaced = match["separator"] != "=" or match.group()[-len(match[group]) - 1] != "="
    if name == "password":
        return not spaced or (match["separator"] == ":" and lowered == value)
    return name == "environment" and not spaced
