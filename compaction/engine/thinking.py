"""Taking a model's thinking out of its text: `<think>…</think>` and its kin.

One pass over the tags, so the time is linear whatever the text (the real Hermes needs
a second for 40 KB of opening tags).
"""

from __future__ import annotations

import re

Span = tuple[int, int]

_EVENT = re.compile(
    r"(?P<fence>^[ \t]{0,3}(?:```|~~~))"
    r"|(?<!`)<(?P<slash>/?)(?:think|thinking|thought|reasoning|reflection)"
    r"(?:\s[^<>]{0,200})?>(?!`)",
    re.IGNORECASE | re.MULTILINE,
)
_NEARBY = 32  # characters of white space that may lie between a tag and its line's end


def strip_thinking(text: str) -> str:
    """Return the text without thinking blocks.

    A block begins or ends a line. An opening tag at the start of a line that is never
    closed hides the rest; a closing tag that was never opened ends thinking that began
    before the text. Tags quoted in code, or in the middle of a sentence, are text.
    """
    if "<" not in text:
        return text
    spans = thinking_spans(text)
    if not spans:
        return text
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    kept = [text[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2)]
    joined = "".join(kept)
    return joined if kept[0].strip() else joined.lstrip()


def thinking_spans(text: str) -> list[Span]:
    """Return where thinking stands, as (start, end) in characters, in order."""
    spans: list[Span] = []
    opened: list[Span] = []
    fenced = False
    for event in _EVENT.finditer(text):
        if event["fence"] is not None:
            if not any(_begins_line(text, at) for at, _ in opened[:1]):
                fenced = not fenced
                opened.clear()
        elif fenced:
            continue
        elif not event["slash"]:
            opened.append(event.span())
        else:
            _close(text, event.span(), opened, spans)
    if opened and _begins_line(text, opened[0][0]):
        spans.append((opened[0][0], len(text)))
    return spans


def _close(text: str, tag: Span, opened: list[Span], spans: list[Span]) -> None:
    """End a block; spans grow only when the outermost block ends."""
    end = tag[1]
    if not opened:
        if not spans and _ends_line(text, end):
            spans.append((0, end))
        return
    first, _ = opened.pop()
    if not opened and (_begins_line(text, first) or _ends_line(text, end)):
        spans.append((first, end))


def _begins_line(text: str, at: int) -> bool:
    before = text[max(0, at - _NEARBY) : at].rstrip(" \t")
    return not before or before.endswith("\n")


def _ends_line(text: str, at: int) -> bool:
    after = text[at : at + _NEARBY].lstrip(" \t\r")
    return not after or after.startswith("\n")
