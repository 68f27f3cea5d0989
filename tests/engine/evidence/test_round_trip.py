"""What a summary tells is read back as it was, so that nothing decays by rounds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from compaction.engine.evidence.carry import read_previous
from compaction.engine.evidence.extract_questions import ASKED_BY_USER
from compaction.engine.evidence.items import (
    WEIGHTS,
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.labels import CHINESE, ENGLISH, NOTHING, Labels
from compaction.engine.evidence.writing import write_items
from compaction.engine.policy import Template
from compaction.engine.tokens import RoughCounter

K = EvidenceKind
LIVE, RESOLVED = EvidenceStatus.LIVE, EvidenceStatus.RESOLVED
PLENTY = 1_000_000  # tokens: nothing is left out

# Words with whatever a line of a summary might mean something by.
WORDS = st.sampled_from(
    (
        *(
            "deploy",
            "the",
            "importer",
            "to",
            "8080",
            "v1.2.3",
            "a/b.py",
            "发票",
            "端口",
        ),
        *("- [ ]", "##", "→", "->", "`x`", "Error:", "Asked:", "Read", "only:", "None"),
        *("Read only: a, b", "edited: c", "(gone later)", "x=1,", "*bold*", "1.", "·"),
        *(
            "Newest request:",
            "In progress:",
            "最新请求：",
            "错误：",
            "Tools used:",
            ":",
        ),
    )
)
SENTENCES = st.lists(WORDS, min_size=2, max_size=7).map(" ".join)
NAMES = st.from_regex(r"[a-z]{1,6}(/[a-z_]{1,8}){0,3}\.[a-z]{1,3}", fullmatch=True)
ACTS = st.sampled_from(("read", "edited", "read, edited ×2", "created", "deleted"))
COMMANDS = st.from_regex(r"[a-z]{2,6}( [a-z./=-]{1,8}){0,3}", fullmatch=True)
ENDS = st.sampled_from(("exit 1", "exit 0", "failed", "ran", "exit 0, 3 passed (×2)"))

STATEMENTS = st.sampled_from((K.CONSTRAINT, K.TODO, K.DECISION, K.QUESTION, K.DONE))


def item(kind: EvidenceKind, text: str, note: str = "") -> EvidenceItem:
    return EvidenceItem(
        kind=kind, text=text, note=note, key=text, position=1, weight=WEIGHTS[kind]
    )


@st.composite
def statements(draw: st.DrawFn) -> EvidenceItem:
    kind = draw(STATEMENTS)
    notes = {K.TODO: ("", "in progress"), K.QUESTION: ("", ASKED_BY_USER)}
    note = draw(st.sampled_from(notes.get(kind, ("",))))
    return item(kind, draw(SENTENCES), note)


FILES = st.builds(item, st.just(K.FILE), NAMES, ACTS)
RUNS = st.builds(item, st.just(K.COMMAND), COMMANDS, ENDS)
ITEMS = st.lists(st.one_of(statements(), FILES, RUNS), max_size=25)


def write(items: list[EvidenceItem], labels: Labels, template: Template) -> str:
    return write_items(
        items, template, labels, budget_tokens=PLENTY, counter=RoughCounter()
    )


def told(items: tuple[EvidenceItem, ...] | list[EvidenceItem]) -> set[tuple[str, ...]]:
    return {(item.kind.value, item.text, item.note) for item in items}


def without_repeats(items: list[EvidenceItem]) -> list[EvidenceItem]:
    """A text is told once, whatever kinds it is of."""
    kept: dict[str, EvidenceItem] = {}
    for found in items:
        if not any(found.text in text or text in found.text for text in kept):
            kept[found.text] = found
    return [i for i in kept.values() if i.text.casefold() not in NOTHING]


@settings(max_examples=100, deadline=None)
@given(items=ITEMS, labels=st.sampled_from((ENGLISH, CHINESE)))
def test_what_was_written_is_read_back_as_it_was(
    items: list[EvidenceItem], labels: Labels
):
    items = without_repeats(items)

    read = read_previous(write(items, labels, Template.HERMES))

    assert told(read) >= told(items)


@settings(max_examples=100, deadline=None)
@given(items=ITEMS, template=st.sampled_from(Template))
def test_writing_again_what_was_read_changes_nothing(
    items: list[EvidenceItem], template: Template
):
    once = read_previous(write(items, ENGLISH, template))
    twice = read_previous(write(list(once), ENGLISH, template))

    assert told(twice) == told(once)


@pytest.mark.parametrize("template", Template)
@pytest.mark.parametrize(
    "found",
    [
        item(K.CONSTRAINT, "Read only: never write to prod, or to b"),
        item(K.CONSTRAINT, "Error: is what the log must say"),
        item(K.TODO, "Newest request: answer it"),
        item(K.QUESTION, "Which port?", ASKED_BY_USER),
        item(K.FILE, "a, b.py", "edited"),
        item(K.FILE, "old.py -> new.py", "moved"),
        item(K.COMMAND, "echo `date`", "exit 0").evolve(status=RESOLVED),
        item(K.ERROR, "ValueError: 12 is not 13").evolve(status=RESOLVED),
        item(K.IDENTIFIER, "the port is 8443"),
        item(K.VALUE, "deploy: zone=eu-west-3, replicas=4"),
    ],
)
def test_labels_and_lists_are_read_only_where_they_are_written(
    found: EvidenceItem, template: Template
):
    (read,) = [
        other
        for other in read_previous(write([found], ENGLISH, template))
        if found.text in (other.text, other.key)
    ]

    assert read.text == found.text
    if template is Template.HERMES:
        assert (read.kind, read.status) == (found.kind, found.status)
        assert read.note == found.note or found.kind is K.IDENTIFIER
