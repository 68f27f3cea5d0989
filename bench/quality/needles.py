"""Whether a text holds a needle; the peer's process imports this: nothing of ours."""

from __future__ import annotations

import re

_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")


def plain(text: str) -> str:
    """Return a text with what JSON escapes in it written out, beside the text itself.

    A summariser reads `\\u4e2d` and `\\"` as what they stand for, on either side.
    """
    if "\\" not in text:
        return text
    read = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return f"{text}\n{read.replace(chr(92) + chr(34), chr(34))}"


def tells(text: str, needle: str) -> bool:
    """True when a text holds a needle that neither letter nor digit lengthens.

    `80` does not stand in `8080`.
    """
    if needle not in text:
        return False
    found = rf"(?<![A-Za-z0-9]){re.escape(needle)}(?![A-Za-z0-9])"
    return re.search(found, text) is not None
