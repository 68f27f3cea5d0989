"""The words of a text as the search index holds them, the same for every database.

A word is a run of letters and digits; underscores and punctuation part words, so
`tool_call_id` is found by `call`. Scripts that do not part words with spaces
(Chinese, Japanese, Korean, Thai, …) give one word a character, so that any piece of
their text is found as a phrase. Case and Latin accents do not count.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

INDEXED_CHARS = 100_000
"""Of each message this many characters can be searched (docs/decisions)."""

_QUERY_CHARS = 200
_QUERY_PHRASES = 12

_ASCII_WORDS = {
    code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)
}
_NO_WORD = re.compile(r"[\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff"
    "\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)
_PIECES = re.compile(r'"([^"]*)"?|(\S+)')


def search_words(text: str) -> str:
    """Return the words of a text, parted by spaces; linear in its length."""
    text = text[:INDEXED_CHARS]
    if text.isascii():
        return text.translate(_ASCII_WORDS)
    text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    text = unicodedata.normalize("NFKC", text).casefold()
    return _NO_WORD.sub(" ", _DENSE.sub(r" \g<0> ", text)).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """Words that must follow each other; `is_open`: the last may go on."""

    words: tuple[str, ...]
    is_open: bool = False


def read_query(text: str) -> tuple[Phrase, ...]:
    """Read what a person typed: words and "quoted phrases", all of which must occur.

    Nothing typed is an error; a text without any word gives no phrase.
    """
    pieces = _PIECES.findall(text[:_QUERY_CHARS])[:_QUERY_PHRASES]
    phrases = [
        Phrase(words=tuple(search_words(quoted or bare).split()), is_open=bool(bare))
        for quoted, bare in pieces
    ]
    return tuple(phrase for phrase in phrases if phrase.words)
