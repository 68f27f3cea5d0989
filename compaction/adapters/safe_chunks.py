"""Cutting a huge text where a tokenizer would cut it anyway.

tiktoken splits a text into words by a regular expression before it merges bytes. That
expression gives up (with an exception that is no Exception) on a run of a million
spaces, and one word of ten million letters takes many seconds. Counted in chunks, every
text is safe and the sum stays the same: both encodings always split before the space
between two words, before the newline after a word, and before Chinese punctuation after
a Chinese character. Only inside a run that has none of these a chunk is cut hard, which
can cost one token each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

CHUNK_CHARS = 16_384
_LOOK_BACK = 2_048

_SPLITS_HERE = re.compile(
    r"(?<=[!-~])(?= \S)"
    r"|(?<=[A-Za-z0-9])(?=\n)"
    "|(?<=[\u4e00-\u9fff])(?=[，。！？；：、])"
)


def safe_chunks(text: str, size: int = CHUNK_CHARS) -> Iterator[str]:
    """Yield the text in pieces of at most `size` characters."""
    start = 0
    while len(text) - start > size:
        end = _cut_before(text, start, start + size)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut_before(text: str, start: int, end: int) -> int:
    """Return the last place up to `end` where a split is certain, else `end`."""
    low = max(start + 1, end - _LOOK_BACK)
    places = [match.start() for match in _SPLITS_HERE.finditer(text, low, end + 1)]
    return places[-1] if places else end
