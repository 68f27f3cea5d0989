"""Which evidence stands under which heading of a summary, and in which words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compaction.engine.evidence import markers
from compaction.engine.evidence.extract_errors import is_error
from compaction.engine.evidence.extract_questions import ASKED_BY_USER
from compaction.engine.evidence.extract_requests import NEWEST_REQUEST
from compaction.engine.evidence.extract_todos import ASKED
from compaction.engine.evidence.items import EvidenceItem, EvidenceKind, EvidenceStatus
from compaction.engine.evidence.labels import Labels, guarded
from compaction.engine.evidence.lines import Line
from compaction.engine.evidence.lists import write_lists
from compaction.engine.evidence.wording import content_words, one_line
from compaction.engine.policy import Template

_K = EvidenceKind
ASKED_CHARS = 160  # of a request that was answered
_SAYS_MUCH = 4  # words that make the rest of a request worth telling

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


def lay_out(
    items: Sequence[EvidenceItem], template: Template, labels: Labels
) -> list[Line]:
    """Return the lines of all that is worth telling, in the order of the template."""
    places = _PLACES[template]
    writer = _Writer(places, labels, items)
    lines = [line for item in items for line in writer.write(item)]
    lines += write_lists(items, places, labels)
    order = list(dict.fromkeys(places.values()))
    return sorted(lines, key=lambda line: order.index(line.path))


_STATEMENTS = frozenset({_K.CONSTRAINT, _K.TODO, _K.QUESTION, _K.DECISION})
"""Sentences that are told as such, and so not again as part of something else."""


class _Writer:
    def __init__(
        self, places: dict[str, str], labels: Labels, items: Iterable[EvidenceItem]
    ) -> None:
        self._places = places
        self._labels = labels
        self._said: dict[int, list[EvidenceItem]] = {}
        for item in items:
            if item.kind in _STATEMENTS and item.position >= 0:
                self._said.setdefault(item.position, []).append(item)

    def _line(self, place: str, text: str, item: EvidenceItem, **more: object) -> Line:
        return Line(
            path=self._places[place],
            text=guarded(text) if text == item.text else text,
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
        if item.kind is _K.CONSTRAINT:
            return self._constraint(item)
        return self._fact(item)

    def _request(self, item: EvidenceItem) -> Iterable[Line]:
        if item.kind is _K.GOAL:
            yield self._line("goal", item.text, item, must=True)
        elif item.weight >= NEWEST_REQUEST:
            text = f"{self._labels.newest}{item.text}"
            yield self._line("goal", text, item, must=True)
        else:
            yield from self._asked(item)

    def _asked(self, item: EvidenceItem) -> Iterable[Line]:
        """Write what of an earlier request no rule, todo or question tells."""
        rest = item.text
        for other in self._said.get(item.position, ()):
            rest = rest.replace(other.text, " ")
        bare = markers.GO_ON.sub(" ", rest)
        if rest != item.text and len(content_words(bare)) < _SAYS_MUCH:
            return
        asked = one_line(rest, ASKED_CHARS).replace(" → ", " -> ")
        answer = f"{self._labels.answered}{item.note}" if item.note else ""
        yield self._line("done", f"{self._labels.asked}{asked}{answer}", item)

    def _outlook(self, item: EvidenceItem) -> Iterable[Line]:
        place, label = self._place_of_outlook(item)
        if place == "done":
            if item.kind is not _K.QUESTION and not self._is_asked(item):
                light = item.evolve(weight=item.weight * 0.45)
                yield self._line("done", item.text, light, key=item.text)
        else:
            text = f"{label}{item.text}"
            if (
                item.kind is _K.TODO
            ):  # also when the newest request tells it: that passes
                yield self._line(place, text, item, must=True)
            else:
                yield self._line(place, text, item, key=item.text)

    def _is_asked(self, item: EvidenceItem) -> bool:
        """True for work that a user asked for: its request tells it already."""
        return item.kind is _K.TODO and item.note == ASKED

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
        return "blocked", self._label_of_question(item)

    def _label_of_question(self, item: EvidenceItem) -> str:
        if item.kind is not _K.QUESTION:
            return ""
        is_users = item.note == ASKED_BY_USER
        return self._labels.open_question if is_users else self._labels.waiting

    def _constraint(self, item: EvidenceItem) -> Iterable[Line]:
        shares_place = self._places["constraints"] == self._places["goal"]
        label = self._labels.constraint if shares_place else ""
        yield self._line("constraints", f"{label}{item.text}", item, must=True)

    def _fact(self, item: EvidenceItem) -> Iterable[Line]:
        if item.kind is _K.DECISION:
            yield self._line("decisions", item.text, item, key=item.text)
        elif item.kind is _K.DONE:
            yield self._line("done", item.text, item, key=item.text)
        elif item.kind is _K.ERROR:
            gone = "" if item.is_live else self._labels.fixed
            label = "" if is_error(item.text) else self._labels.error
            text = f"{label}{item.text}{gone}"
            yield self._line("facts", text, item, key=item.text)
        elif item.kind in (_K.IDENTIFIER, _K.VALUE) and not self._is_said(item):
            shares_place = self._places["facts"] == self._places["done"]
            label = self._labels.fact if shares_place else ""
            yield self._line("facts", f"{label}{item.text}", item, key=item.key)

    def _is_said(self, item: EvidenceItem) -> bool:
        """True for a value within a sentence that is told, or no longer holds."""
        said = self._said.get(item.position, ())
        return any(item.key in other.text for other in said)
