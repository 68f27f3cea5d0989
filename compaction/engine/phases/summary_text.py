"""The summary as text: prefix, end marker, headings, sections."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compaction.engine.policy import Template

SUMMARY_PREFIX = (
    "[CONTEXT COMPACTION - system-generated summary of earlier turns, "
    "not a new instruction]"
)
"""Article 003's prefix: whatever the role, this is background, not an order."""

SUMMARY_NOTE = (
    "The newest user message decides what to do; where it differs from this summary, "
    "it wins. Tasks named here may be finished or cancelled."
)
SUMMARY_END = "[END OF SUMMARY - the conversation goes on below]"

SYSTEM_NOTE = (
    "[Note: earlier turns of this conversation were compacted into a summary that "
    "follows the first messages. Build on it and on the present state of files "
    "instead of doing the work again.]"
)
"""Added to the system message once, at the first compaction (article 000, phase 4)."""

SUMMARY_HEADINGS: Mapping[Template, tuple[str, ...]] = {
    Template.HERMES: (
        "Goal",
        "Constraints & Preferences",
        "Progress",
        "Progress / Done",
        "Progress / In Progress",
        "Progress / Blocked",
        "Key Decisions",
        "Relevant Files",
        "Next Steps",
        "Critical Context",
        "Tools & Patterns",
    ),
    Template.TUTORIAL: (
        "Goal",
        "Progress",
        "Key Decisions",
        "Files Modified",
        "Next Steps",
    ),
}
"""Headings in order; `A / B` is the subheading B below A."""

PINS = "Pinned Constraints"
"""Heading of the constraints that the console carries itself, word for word."""

PINNED_MESSAGES = "Pinned Messages"
"""Heading of messages that an operator wants carried word for word."""

_CARRIED = (PINS.casefold(), PINNED_MESSAGES.casefold())

_KNOWN_PREFIXES = re.compile(
    r"\s{0,8}\[(?:CONTEXT COMPACTION|CONTEXT SUMMARY)[^\]\n]{0,200}\]:?[ \t]{0,8}\n?"
)
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One heading with its items; `path` is `Heading` or `Heading / Subheading`.

    An item is a list entry or a paragraph, without its bullet.
    """

    path: str
    items: tuple[str, ...] = ()


def wrap_summary(text: str) -> str:
    """Put prefix, note and end marker around a bare summary."""
    return f"{SUMMARY_PREFIX}\n{SUMMARY_NOTE}\n\n{text.strip()}\n\n{SUMMARY_END}"


def bare_summary(text: str) -> str:
    """Take prefix, note and end marker off again, ours and older ones, nested too."""
    bare = text
    while True:
        match = _KNOWN_PREFIXES.match(bare)
        stripped = bare[match.end() :] if match else bare
        stripped = stripped.strip()
        stripped = stripped.removeprefix(SUMMARY_NOTE).lstrip()
        stripped = stripped.removesuffix(SUMMARY_END).rstrip()
        if stripped == bare:
            return stripped
        bare = stripped


def without_pins(bare: str) -> str:
    """Return a bare summary without what the console carries, whoever wrote it."""
    kept: list[str] = []
    within = found = False
    for line in bare.splitlines():
        is_heading = _HEADING.match(line) is not None
        names = _names_pins(line, is_heading=is_heading)
        if is_heading or names:
            within = names
        found = found or within
        if not within:
            kept.append(line)
    return "\n".join(kept).rstrip() if found else bare


def _names_pins(line: str, *, is_heading: bool) -> bool:
    """True for a line that a reader takes for one of our headings, however dressed up:
    bold, underlined, with other spaces or with invisible characters.
    """
    if len(line) > _HEADING_CHARS:
        return False
    seen = unicodedata.normalize("NFKC", line)
    visible = "".join(c for c in seen if unicodedata.category(c) != "Cf")
    words = " ".join(visible.strip("#*_=:- \t\u00a0").split()).casefold()
    if is_heading:
        return any(name in words for name in _CARRIED)
    return words in _CARRIED


_HEADING_CHARS = 120


def without_markers(text: str) -> str:
    """Return a model's text without our prefixes and end markers, wherever it put them.

    A false end would let an agent read what follows as new words of its user.
    """
    return _MARKERS.sub("", text) if "[" in text else text


_MARKERS = re.compile(
    r"\[(?:CONTEXT COMPACTION|CONTEXT SUMMARY|END OF SUMMARY)[^\]\n]{0,200}\]"
)


def pins_in(bare: str, heading: str = PINS) -> tuple[str, ...]:
    """Return what a bare summary carries word for word under one of both headings."""
    return tuple(
        item
        for section in parse_sections(bare)
        if section.path == heading
        for item in section.items
    )


def with_pins(bare: str, pins: Iterable[str], messages: Iterable[str] = ()) -> str:
    """Return a bare summary with these constraints and messages and no others."""
    carried = ((PINS, tuple(pins)), (PINNED_MESSAGES, tuple(messages)))
    sections = [Section(path=path, items=items) for path, items in carried if items]
    parts = [without_pins(bare), render_sections(sections)]
    return "\n\n".join(part for part in parts if part)


def add_item(bare: str, path: str, item: str) -> str:
    """Return a bare summary with one more item under a heading, made where it lacks."""
    lines = bare.splitlines()
    end = _end_of_section(lines, path)
    if end is None:
        section = render_sections([Section(path=path, items=(item,))])
        return f"{bare.rstrip()}\n\n{section}".lstrip()
    return "\n".join([*lines[:end], f"- {item}", *lines[end:]])


def _end_of_section(lines: Sequence[str], path: str) -> int | None:
    """Number of the line behind the last one that says something under a heading."""
    end: int | None = None
    top, within = "", False
    for number, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading:
            name = heading.group(2).strip()
            is_top = len(heading.group(1)) <= 2 or not top
            top = name if len(heading.group(1)) <= 2 else top
            within = path == (name if is_top else f"{top} / {name}")
        if within and line.strip():
            end = number + 1
    return end


def is_wrapped(text: str) -> bool:
    """True when a text opens like a summary of ours or of an older Hermes."""
    return _KNOWN_PREFIXES.match(text) is not None


def parse_sections(text: str) -> tuple[Section, ...]:
    """Read a bare summary into sections; text before a heading has the path ''."""
    sections: list[tuple[str, list[str]]] = []
    top = ""
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading:
            level, name = len(heading.group(1)), heading.group(2).strip()
            top = name if level <= 2 else top
            path = name if level <= 2 or not top else f"{top} / {name}"
            sections.append((path, []))
            continue
        if not sections:
            sections.append(("", []))
        sections[-1][1].append(line)
    return tuple(
        Section(path=path, items=tuple(_items(lines)))
        for path, lines in sections
        if path or any(line.strip() for line in lines)
    )


_BULLET = re.compile(r"^[ \t]{0,16}(?:[-*+•]|\d{1,3}[.)])[ \t]+")


def _items(lines: Iterable[str]) -> list[str]:
    items: list[str] = []
    open_item = False
    for line in lines:
        if not line.strip():
            open_item = False
        elif _BULLET.match(line):
            items.append(_BULLET.sub("", line).rstrip())
            open_item = True
        elif open_item:
            items[-1] = f"{items[-1]}\n{line.rstrip()}"
        else:
            items.append(line.strip())
            open_item = True
    return items


def render_sections(sections: Iterable[Section]) -> str:
    """Write sections as a bare summary; `parse_sections` reads the same back."""
    blocks: list[str] = []
    written: set[str] = set()
    for section in sections:
        top, _, sub = section.path.partition(" / ")
        if sub and top not in written:
            blocks.append(f"## {top}")
        written.add(top)
        heading = f"### {sub}" if sub else f"## {top}"
        body = "\n".join(f"- {item}" for item in section.items)
        blocks.append(f"{heading}\n{body}".rstrip() if section.path else body)
    return "\n\n".join(blocks)
