"""The Summaries page: two revisions beside each other, and all there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compaction.engine.phases.summary_diff import (
    Change,
    DiffItem,
    SummaryDiff,
    diff_summaries,
)
from compaction.engine.phases.summary_text import (
    Section,
    parse_sections,
    render_sections,
)
from compaction.models import Session, Summary
from compaction.store import summary_in_force

FOLD_FROM = 8
"""With more kept items than this a section shows what changed and folds the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One item on one side; `pieces` are (op, text) of a rewording.

    `change` is kept, added, dropped, moved or reworded; `place` numbers the dropped
    items of a comparison, so that one of them can be named in an address.
    """

    change: str
    text: str
    pieces: Sequence[tuple[str, str]] = ()
    place: int | None = None
    moved_from: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSection:
    """One heading with its items on both sides and how many changed how."""

    heading: str
    before: tuple[Line, ...]
    after: tuple[Line, ...]
    counts: Mapping[str, int]

    @property
    def folds(self) -> bool:
        """True when so many items were kept that they hide what changed."""
        return self.counts["kept"] > FOLD_FROM

    @property
    def changed_before(self) -> tuple[Line, ...]:
        """The items of the left that did not stay as they were."""
        return tuple(line for line in self.before if line.change != "kept")

    @property
    def changed_after(self) -> tuple[Line, ...]:
        """The items of the right that were not there in these words."""
        return tuple(line for line in self.after if line.change != "kept")

    @property
    def kept(self) -> tuple[Line, ...]:
        """The items that are the same on both sides."""
        return tuple(line for line in self.after if line.change == "kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two texts, section by section; `counts` over all sections."""

    sections: tuple[ComparedSection, ...]
    counts: Mapping[str, int]

    @property
    def is_equal(self) -> bool:
        """True when both say the same under the same headings."""
        return not any(count for name, count in self.counts.items() if name != "kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPage:
    """What the page shows; `shown` and `against` are None when there are none.

    `in_force` is what the next update starts from.
    """

    revisions: tuple[Summary, ...]
    in_force: Summary | None
    shown: Summary | None
    against: Summary | None
    comparison: Comparison | None = field(default=None)

    @property
    def is_in_force(self) -> bool:
        """True when the right side is the summary in force."""
        return self.shown is not None and self.shown == self.in_force


def summary_page(
    session: Session, *, revision: int | None = None, against: int | None = None
) -> SummaryPage:
    """Return two revisions side by side: the chosen ones, else the newest two."""
    revisions = list_revisions(session)
    in_force = summary_in_force(session)
    shown = _choose(revisions, revision) or in_force
    left = _choose(revisions, against) or _before(revisions, shown)
    return SummaryPage(
        revisions=revisions,
        in_force=in_force,
        shown=shown,
        against=left,
        comparison=compare(left.text if left else "", shown.text) if shown else None,
    )


def list_revisions(session: Session) -> tuple[Summary, ...]:
    """Return every revision of the session's conversation, newest first.

    Texts are left out; that of a row is read when it is asked for.
    """
    found = Summary.objects.filter(session__conversation_id=session.conversation_id)
    rows = found.select_related("author", "session").defer(
        "session__system_prompt", "session__tools", "sections", "text"
    )
    return tuple(rows.order_by("-revision", "-pk"))


def _choose(revisions: Sequence[Summary], number: int | None) -> Summary | None:
    return next((row for row in revisions if row.revision == number), None)


def _before(revisions: Sequence[Summary], shown: Summary | None) -> Summary | None:
    """Return what a revision was made from, else the one before it."""
    if shown is None:
        return None
    made_from = next((row for row in revisions if row.pk == shown.previous_id), None)
    older = (row for row in revisions if row.revision < shown.revision)
    return made_from or next(older, None)


def compare(before: str, after: str) -> Comparison:
    """Compare two bare summaries for two columns."""
    diff = diff_summaries(before, after)
    left: dict[str, list[Line]] = {section.path: [] for section in diff.sections}
    right: dict[str, list[Line]] = {section.path: [] for section in diff.sections}
    dropped = 0
    for section in diff.sections:
        for item in section.items:
            place = dropped if item.change is Change.GONE else None
            dropped += item.change is Change.GONE
            if item.before:
                home = item.moved_from or section.path
                left.setdefault(home, []).append(_left(item, place))
            if item.after:
                right[section.path].append(_right(item))
    return Comparison(
        sections=tuple(
            ComparedSection(
                heading=path.replace(" / ", " · "),
                before=tuple(left[path]),
                after=tuple(right.get(path, ())),
                counts=_count_section(diff, path),
            )
            for path in left
        ),
        counts={_NAMES[change]: diff.count(change) for change in Change},
    )


_NAMES: Mapping[Change, str] = {
    Change.KEPT: "kept",
    Change.ADDED: "added",
    Change.GONE: "dropped",
    Change.MOVED: "moved",
    Change.REWORDED: "reworded",
}


def _count_section(diff: SummaryDiff, path: str) -> Mapping[str, int]:
    section = next((s for s in diff.sections if s.path == path), None)
    return {
        _NAMES[change]: section.count(change) if section else 0 for change in Change
    }


def put_back(before: str, after: str, place: int) -> str:
    """Return `after` with the dropped item of this place back under its heading.

    The text is unchanged when there is no such item; a heading that is gone comes
    back at the end.
    """
    gone = [
        (section.path, item.before)
        for section in diff_summaries(before, after).sections
        for item in section.items
        if item.change is Change.GONE
    ]
    if not 0 <= place < len(gone):
        return after
    path, text = gone[place]
    sections = list(parse_sections(after))
    home = next((n for n, found in enumerate(sections) if found.path == path), None)
    if home is None:
        sections.append(Section(path=path, items=(text,)))
    else:
        sections[home] = Section(path=path, items=(*sections[home].items, text))
    return render_sections(sections)


def _left(item: DiffItem, place: int | None) -> Line:
    return Line(change=_NAMES[item.change], text=item.before, place=place)


def _right(item: DiffItem) -> Line:
    return Line(
        change=_NAMES[item.change],
        text=item.after,
        pieces=item.words,
        moved_from=item.moved_from.replace(" / ", " · "),
    )
