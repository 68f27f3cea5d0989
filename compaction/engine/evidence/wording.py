"""Sentences, content words and keys: how a text is taken apart, English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

_SENTENCE_END = re.compile(
    r"(?<=[.!?])[ \t]+(?=[A-Z\"'(\[`*\d/@-])|(?<=[。！？；])|\n"
    # People begin sentences in small letters, too; not after an abbreviation.
    r"|(?<=[A-Za-z0-9)\]\"'`][.!?])(?<!\b[A-Z]\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)"
    r"(?<!\bcf\.)(?<!\bapprox\.)(?<!\bno\.)(?<!\bincl\.)(?<!\bresp\.)[ \t]+(?=[a-z])"
)
_DECORATION = re.compile(
    r"^[ \t]{0,16}(?:[-*+•>|]{1,3}[ \t]+|\d{1,3}[.)、][ \t]+|#{1,6}[ \t]+"
    r"|\[[ xX~-]\][ \t]*){0,3}"
)
_NO_PROSE = re.compile(r"[ \t]{0,4}(?:#{1,6}[ \t]|\||\Z|[-=_*]{3,}[ \t]*\Z)")
_LIST_ENTRY = re.compile(r"[ \t]{0,16}(?:[-*+•>][ \t]|\d{1,3}[.)、]|\[[ xX~-]\])")
_LINE_ENDS = re.compile(r"[.!?:;,。！？：；，]\Z|[\u3040-\u30ff\u4e00-\u9fff]\Z")
_WRAPPED_CHARS = 25
_FENCE = re.compile(r"^[ \t]{0,8}(?:```|~~~)")
_EMPHASIS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__")

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_./@#-]*[A-Za-z0-9]|[A-Za-z0-9]|[{CJK}]+")
_VALUE = re.compile(
    r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|June"
    r"|July|August|September|October|November|December)\b|"
    r"\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|`[^`\n]{1,80}`|“[^”\n]{1,80}”"
    r"|(?<![\w./:@#%$-])[\w./:@#%$-]*\d[\w./:@#%-]*"
)
_DENSE = re.compile(f"[{CJK}]")


def words(text: str) -> frozenset[str]:
    """Return the words of a list written as one text."""
    return frozenset(text.split())


STOP_WORDS = words(
    "a an the and or but so of to in on at by for from with as is are was were be been "
    "it its this that these those i you we they he she my your our their me us them do "
    "does did not no now then also just please will would can could should must have "
    "has had let make sure need want use using used only always never still all any "
    "some there here what which when where how if than into out up down over actually "
    "instead again back keep okay ok yes well really currently new old"
)
_STOP_CHARS = frozenset(
    "的了是在和与及也都就要把被请我你他她它们这那个一不用会能可以吧呢吗必须应该"
)


def sentences(text: str, *, most: int = 400) -> Iterator[str]:
    """Yield the sentences and list entries of a text, without bullets.

    Headings, tables and lines within a fence of code are left out; a sentence that was
    wrapped over several lines is put together again. At most `most` are yielded.
    """
    given = 0
    for paragraph in _paragraphs(text):
        for part in _SENTENCE_END.split(paragraph):
            bare = undecorated(part)
            if len(bare) > 1:
                yield bare
                given += 1
                if given >= most:
                    return


def sentence_lines(text: str) -> str:
    """Return a text with every sentence on a line of its own, code included."""
    return _SENTENCE_END.sub("\n", text)


def _paragraphs(text: str) -> Iterator[str]:
    fenced = False
    open_line = ""
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or _NO_PROSE.match(line):
            yield open_line
            open_line = ""
        elif _goes_on(open_line, line):
            open_line = f"{open_line} {line.strip()}"
        else:
            yield open_line
            open_line = line.strip()
    yield open_line


def _goes_on(before: str, line: str) -> bool:
    """True when a line is the rest of a sentence that was wrapped."""
    return (
        _WRAPPED_CHARS <= len(before) <= 600
        and not _LINE_ENDS.search(before)
        and not _LIST_ENTRY.match(line)
    )


def undecorated(line: str) -> str:
    """Return a line without bullet, number, heading marks and bold marks."""
    bare = _DECORATION.sub("", line, count=1)
    return _EMPHASIS.sub("", bare).strip()


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, at most `limit` characters, cut at a word."""
    line = " ".join(text[: limit * 3].split())
    if len(line) <= limit:
        return line
    cut = line.rfind(" ", limit * 2 // 3, limit - 1)
    return f"{line[: cut if cut > 0 else limit - 1].rstrip()}…"


def around(text: str, start: int, end: int, limit: int) -> str:
    """Return the part of a line around a span, at most `limit` characters."""
    line = text.strip()
    if len(line) <= limit:
        return line
    room = max(0, limit - (end - start)) // 2
    left, right = max(0, start - room), min(len(text), end + room)
    if left > 0:
        space = text.find(" ", left, start)
        left = space + 1 if space >= 0 else left
    if right < len(text):
        space = text.rfind(" ", end, right)
        right = space if space > 0 else right
    return text[left:right].strip()


@lru_cache(maxsize=4_096)
def content_words(text: str) -> frozenset[str]:
    """Return the words that say what a text is about; Chinese as character pairs."""
    found: set[str] = set()
    for word in _WORD.findall(text[:2_000]):
        if _DENSE.match(word):
            found.update(_pairs(word))
        elif (len(word) > 1 or word.isdigit()) and word.lower() not in STOP_WORDS:
            found.add(_stem(word.lower()))
    return frozenset(found)


def _pairs(run: str) -> Iterator[str]:
    kept = [char for char in run if char not in _STOP_CHARS]
    for first, second in pairwise(kept):
        yield first + second


def _stem(word: str) -> str:
    """Take a common ending off, so that `migrating` and `migrated` meet `migrate`."""
    for ending in _ENDINGS.get(word[-1], ()):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


_ENDINGS = {"g": ("ing",), "d": ("ed",), "s": ("es", "s"), "e": ("e",)}


_ASSIGNED = re.compile(
    r"^(?P<subject>.{2,90}?)(?:\s(?:is|are|should be|must be|has to be|will be|=)\s"
    r"|\s?[:：=]\s|为|是|改成|调到|设为)\s?(?P<value>\S.{0,120})$"
    r"|\b(?:set|chang\w+|updat\w+|increas\w+|decreas\w+|rais\w+|lower\w*|reduc\w+"
    r"|bump\w*|mov\w+|switch\w*)\s(?P<moved>.{2,80}?)\sto\s(?P<new>\S.{0,120})$",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    r"\b(?:at most|at least|under|below|within|over|above|no more than|no less than"
    r"|up to|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?)\s+(?P<value>\d[\d,.]*)"
    r"|(?:不超过|不少于|最多|至少|上限|下限)\s?(?P<number>\d[\d,.]*)",
    re.IGNORECASE,
)
_SETTING_VERBS = words(
    "set chang change updat update increas increase decreas decrease rais raise lower "
    "bump switch mak correction limit"
)


def subject_key(text: str) -> str:
    """Return what a statement sets, whatever value it sets it to; '' if it sets none.

    `The port is 8080` and `The port is now 9090` have the same key; so have `below 300
    words` and `below 500 words`. Numbers within the subject are part of it.
    """
    limited = _LIMITED.search(text)
    if limited:
        start, end = limited.span("value" if limited["value"] else "number")
        subject = content_words(text[:start] + text[end:])
    else:
        assigned = _ASSIGNED.search(text)
        named = (assigned["subject"] or assigned["moved"]) if assigned else ""
        subject = content_words(named)
    return " ".join(sorted(subject - _SETTING_VERBS))


def has_value(text: str) -> bool:
    """True when a statement holds a number, an identifier or something quoted."""
    return _VALUE.search(text) is not None


def overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Return how much of the smaller set of words lies in the other, 0 to 1."""
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else 0.0
