"""Which evidence stands under which heading of a summary, and in which words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compaction.engine.evidence.extract_errors import is_error
from compaction.engine.evidence.extract_requests import NEWEST_REQUEST
from compaction.engine.evidence.items import EvidenceItem, EvidenceKind, EvidenceStatus
from compaction.engine.evidence.labels import Labels
from compaction.engine.evidence.wording import one_line
from compaction.engine.policy import Template

_K = EvidenceKind
ASKED_CHARS = 160  # of a request that was answered

_PLACES: dict[Template, dict[str, str]] = {
    Template.HERMES: {
        "goal": "Goal",
        "constraints": "Constraints & Preferences",
        "done": "Progress / Done",
        "doing": "Progress / In Progress",
        "blocked": "Progress / Blocked",
        "decisions": "Key Decisions",
        "files": "Relevant Files",
        "next": "Next Steps",
        "facts": "Critical Context",
        "tools": "Tools & Patterns",
    },
    Template.TUTORIAL: {
        "goal": "Goal",
        "constraints": "Goal",
        "done": "Progress",
        "doing": "Progress",
        "blocked": "Progress",
        "decisions": "Key Decisions",
        "files": "Files Modified",
        "next": "Next Steps",
        "facts": "Progress",
        "tools": "Progress",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the summary; `must` ones come before all others."""

    path: str
    text: str
    weight: float
    kind: EvidenceKind
    must: bool = False
    key: str = ""  # said already when this stands in another line
    tells: int = 1  # how many things it tells


def lay_out(
    items: Sequence[EvidenceItem], template: Template, labels: Labels
) -> list[Line]:
    """Return the lines of all that is worth telling, in the order of the template."""
    places = _PLACES[template]
    writer = _Writer(places, labels)
    lines = [line for item in items for line in writer.write(item)]
    lines += writer.write_lists(items)
    order = list(dict.fromkeys(places.values()))
    return sorted(lines, key=lambda line: order.index(line.path))


class _Writer:
    def __init__(self, places: dict[str, str], labels: Labels) -> None:
        self._places = places
        self._labels = labels

    def _line(self, place: str, text: str, item: EvidenceItem, **more: object) -> Line:
        return Line(
            path=self._places[place],
            text=text,
            weight=item.weight,
            kind=item.kind,
            **more,  # type: ignore[arg-type]
        )

    def write(self, item: EvidenceItem) -> Iterable[Line]:
        """Return the line of one item; none for what no longer holds."""
        if item.status is EvidenceStatus.SUPERSEDED:
            return ()
        if item.kind in (_K.GOAL, _K.REQUEST):
            return self._request(item)
        if item.kind in (_K.TODO, _K.NEXT, _K.STATE, _K.QUESTION, _K.BLOCKER):
            return self._outlook(item)
        if item.kind in (_K.FILE, _K.COMMAND):
            return self._deed(item)
        return self._fact(item)

    def _request(self, item: EvidenceItem) -> Iterable[Line]:
        if item.kind is _K.GOAL:
            yield self._line("goal", item.text, item, must=True)
        elif item.weight >= NEWEST_REQUEST:
            text = f"{self._labels.newest}{item.text}"
            yield self._line("goal", text, item, must=True)
        else:
            answer = f"{self._labels.answered}{item.note}" if item.note else ""
            asked = one_line(item.text, ASKED_CHARS)
            text = f"{self._labels.asked}{asked}{answer}"
            yield self._line("done", text, item)

    def _outlook(self, item: EvidenceItem) -> Iterable[Line]:
        place, label = self._place_of_outlook(item)
        if place == "done":
            yield self._line("done", item.text, item.evolve(weight=item.weight * 0.45))
        else:
            must = item.kind is _K.TODO
            text = f"{label}{item.text}"
            yield self._line(place, text, item, must=must, key=item.text)

    def _place_of_outlook(self, item: EvidenceItem) -> tuple[str, str]:
        if not item.is_live:
            return "done", ""
        if item.kind is _K.TODO:
            doing = item.note == "in progress"
            return ("doing", self._labels.in_progress) if doing else ("next", "")
        if item.kind is _K.STATE:
            label = self._labels.last_reply if item.position >= 0 else ""
            return "doing", label
        if item.kind is _K.NEXT:
            return "next", self._labels.announced
        return "blocked", self._labels.open_question * (item.kind is _K.QUESTION)

    def _deed(self, item: EvidenceItem) -> Iterable[Line]:
        if item.kind is _K.FILE:
            if item.note not in ("read", "mentioned"):
                text = f"`{item.text}` - {item.note}"
                yield self._line("files", text, item)
        else:
            yield self._line("tools", f"`{item.text}` -> {item.note}", item)

    def _fact(self, item: EvidenceItem) -> Iterable[Line]:
        if item.kind is _K.CONSTRAINT:
            yield self._line("constraints", item.text, item, must=True)
        elif item.kind is _K.DECISION:
            yield self._line("decisions", item.text, item, key=item.text)
        elif item.kind is _K.DONE:
            yield self._line("done", item.text, item, key=item.text)
        elif item.kind is _K.ERROR:
            gone = "" if item.is_live else self._labels.fixed
            bare = item.text.removesuffix(gone) if gone else item.text
            label = "" if is_error(bare) else self._labels.error
            text = f"{label}{bare}{gone}"
            yield self._line("facts", text, item, key=item.text)
        elif item.kind in (_K.IDENTIFIER, _K.VALUE):
            yield self._line("facts", item.text, item, key=item.key)

    def write_lists(self, items: Sequence[EvidenceItem]) -> list[Line]:
        """Return the lines that tell many small things at once."""
        read = [i for i in items if i.kind is _K.FILE and i.note == "read"]
        read.sort(key=lambda item: -item.weight)
        used = Counter(
            {i.text: int(i.note[1:]) for i in items if i.kind is _K.TOOL and i.note}
        )
        lines = [self._read_line(part) for part in _batches(read, 12)]
        if used:
            names = ", ".join(f"{name} ×{count}" for name, count in used.most_common())
            tool = EvidenceItem(kind=_K.TOOL, text=names, weight=20)
            lines.append(self._line("tools", f"{self._labels.tools}{names}", tool))
        return lines

    def _read_line(self, files: Sequence[EvidenceItem]) -> Line:
        paths = ", ".join(item.text for item in files)
        heaviest = max(files, key=lambda item: item.weight)
        text = f"{self._labels.read}{paths}"
        return self._line("files", text, heaviest, tells=len(files))


def _batches(
    items: Sequence[EvidenceItem], size: int
) -> Iterable[Sequence[EvidenceItem]]:
    return (items[start : start + size] for start in range(0, len(items), size))
