"""The texts that the demo model writes: chapters, a report, summaries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

_TOPICS = (
    "what comes in and who asks for it",
    "what is kept and for how long",
    "who may see it and who may not",
    "what happens when a part is missing",
    "how one finds out that it does not work",
    "what is to be done then, step by step",
    "what was tried before and why it was given up",
    "which numbers are measured and which are only believed",
)
_PATH = re.compile(r"[\w./-]{1,120}\.(?:md|py|txt|json|toml|yml|html|css|js)\b")
_LINES = 12
"""How many lines of one kind a summary keeps."""


def chapter(number: int, subject: str) -> str:
    """Write a long chapter, so that a conversation without files grows too."""
    paragraphs = [
        f"{number}.{place} This section is about {topic}. It says it for the part "
        f"that this step is about ({subject.lower()}), names who is responsible, and "
        f"gives one example. The example has the number {number * 100 + place}; it "
        "is used again wherever the same part is meant, so that nobody has to guess. "
        "Where two parts depend on each other the earlier one is described first and "
        "the later one refers to it. What is not known yet is said to be not known."
        for place, topic in enumerate(_TOPICS * 2, 1)
    ]
    return "\n\n".join(paragraphs)


def report(goal: str, subjects: Sequence[str]) -> str:
    """Write the report at the end of the task."""
    lines = [
        f"{number}. {subject}: done." for number, subject in enumerate(subjects, 1)
    ]
    return "\n".join(
        [
            f"The task is done: {goal}",
            "",
            "What was on the list:",
            *lines,
            "",
            "Some requests failed on the way, on purpose; the Timeline shows each one "
            "and what was done. Nothing on the list was forgotten: it stands outside "
            "of the messages and is never compacted.",
        ]
    )


def summarise(request: str) -> str:
    """Write the summary that a prompt asks for: its headings, its previous summary.

    It copies and judges nothing, as a small model does on a bad day: what the user
    said, which files occur, what was said to be next.
    """
    previous = _previous(request)
    transcript = _between(request, "<transcript>", "</transcript>")
    found: Mapping[str, Sequence[str]] = {
        "Goal": _user_lines(transcript)[:1],
        "Constraints & Preferences": [],
        "Done": _said(transcript, "Done:"),
        "In Progress": _said(transcript, "Next:")[-1:],
        "Relevant Files": list(dict.fromkeys(_PATH.findall(transcript)))[:_LINES],
        "Next Steps": ["Go on with the open todos of the TaskState, in their order."],
        "Critical Context": _lines(_between(request, "<missing>", "</missing>")),
    }
    lines: list[str] = []
    for marks, heading in _headings(request):
        kept = [*previous.get(heading, ()), *found.get(heading, ())]
        if heading == "Goal":
            kept = kept[:1]
        lines += [f"{marks} {heading}", *_bullets(kept), ""]
    return "\n".join(lines).strip()


def _previous(request: str) -> dict[str, list[str]]:
    """Return the lines of the previous summary under their headings."""
    text = _between(request, "<previous_summary>", "</previous_summary>")
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.strip("# ").strip()
        elif line.strip() and line.strip() != "None":
            sections.setdefault(heading, []).append(line.strip().lstrip("- "))
    return sections


def _headings(request: str) -> Iterator[tuple[str, str]]:
    """Yield the headings that the end of the prompt asks for."""
    asked = request.rpartition("Use exactly these headings")[2]
    lines = [line for line in asked.splitlines() if line.startswith("#")]
    for line in lines or ["## Goal", "## Progress", "## Next Steps"]:
        marks, _space, heading = line.partition(" ")
        yield marks, heading.strip()


def _between(text: str, opening: str, closing: str) -> str:
    _before, found, after = text.partition(opening)
    return after.partition(closing)[0] if found else ""


def _lines(text: str) -> list[str]:
    return [line.strip().lstrip("- ") for line in text.splitlines() if line.strip()]


def _user_lines(transcript: str) -> list[str]:
    lines = [line for line in transcript.splitlines() if line.startswith("[USER")]
    return [line.partition("]")[2].strip(": ")[:300] for line in lines]


def _said(transcript: str, word: str) -> list[str]:
    lines = [line.partition(word)[2].strip() for line in transcript.splitlines()]
    return [line[:200] for line in lines if line][-_LINES:]


def _bullets(lines: Sequence[str]) -> list[str]:
    unlike = list(dict.fromkeys(line for line in lines if line))
    return [f"- {line}" for line in unlike[-2 * _LINES :]] or ["None"]
