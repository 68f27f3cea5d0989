"""Evidence becomes a summary within its budget, and is read back out of one."""

from __future__ import annotations

import pytest

from compaction.engine.evidence.carry import read_previous
from compaction.engine.evidence.items import (
    WEIGHTS,
    EvidenceItem,
    EvidenceKind,
    EvidenceStatus,
)
from compaction.engine.evidence.labels import CHINESE, ENGLISH, Labels
from compaction.engine.evidence.writing import write_items
from compaction.engine.phases.summary_text import SUMMARY_HEADINGS, parse_sections
from compaction.engine.policy import Template
from compaction.engine.tokens import RoughCounter

COUNTER = RoughCounter()
K = EvidenceKind


def item(kind: EvidenceKind, text: str, **values: object) -> EvidenceItem:
    given = {"position": 1, "weight": WEIGHTS[kind], "key": text} | values
    return EvidenceItem(kind=kind, text=text, **given)


def write(
    *items: EvidenceItem,
    budget: int = 2_000,
    template: Template = Template.HERMES,
    labels: Labels = ENGLISH,
) -> str:
    return write_items(items, template, labels, budget_tokens=budget, counter=COUNTER)


def under(summary: str, path: str) -> tuple[str, ...]:
    return next(s.items for s in parse_sections(summary) if s.path == path)


@pytest.mark.parametrize("template", Template)
def test_every_heading_is_there_even_with_nothing_below_it(template: Template):
    summary = write(template=template)

    paths = [s.path for s in parse_sections(summary) if s.path]
    assert paths == list(SUMMARY_HEADINGS[template])
    assert summary.startswith(ENGLISH.note)


ALL_KINDS = [
    (item(K.GOAL, "Fix the login"), "Goal", "Fix the login"),
    (
        item(K.CONSTRAINT, "Never touch billing"),
        "Constraints & Preferences",
        "Never touch billing",
    ),
    (
        item(K.REQUEST, "add logs", status=EvidenceStatus.RESOLVED, note="Added."),
        "Progress / Done",
        "Asked: add logs → Added.",
    ),
    (item(K.DONE, "Added logs"), "Progress / Done", "Added logs"),
    (
        item(K.TODO, "test it", note="in progress"),
        "Progress / In Progress",
        "In progress: test it",
    ),
    (item(K.STATE, "Testing."), "Progress / In Progress", "Last reply: Testing."),
    (item(K.BLOCKER, "No access"), "Progress / Blocked", "No access"),
    (
        item(K.QUESTION, "Which one?"),
        "Progress / Blocked",
        "Waiting for the user: Which one?",
    ),
    (item(K.DECISION, "Chose Redis"), "Key Decisions", "Chose Redis"),
    (item(K.FILE, "a.py", note="edited ×2"), "Relevant Files", "edited ×2: a.py"),
    (item(K.FILE, "b.py", note="read"), "Relevant Files", "Read only: b.py"),
    (item(K.TODO, "write docs"), "Next Steps", "write docs"),
    (item(K.NEXT, "I will test"), "Next Steps", "Announced: I will test"),
    (item(K.ERROR, "ValueError: x"), "Critical Context", "ValueError: x"),
    (item(K.ERROR, "it broke"), "Critical Context", "Error: it broke"),
    (item(K.IDENTIFIER, "port 80"), "Critical Context", "port 80"),
    (item(K.VALUE, "deploy: n=2"), "Critical Context", "deploy: n=2"),
    (
        item(K.COMMAND, "make", note="exit 0"),
        "Tools & Patterns",
        "exit 0: `make`",
    ),
    (item(K.TOOL, "bash", note="×3"), "Tools & Patterns", "Tools used: bash ×3"),
]


@pytest.mark.parametrize(("evidence", "path", "line"), ALL_KINDS)
def test_each_kind_has_its_heading(evidence: EvidenceItem, path: str, line: str):
    assert under(write(evidence), path) == (line,)


@pytest.mark.parametrize(("evidence", "path", "line"), ALL_KINDS)
def test_what_was_called_off_is_not_told(evidence: EvidenceItem, path: str, line: str):
    if evidence.kind in (K.FILE, K.TOOL):
        return
    gone = evidence.evolve(status=EvidenceStatus.SUPERSEDED)

    assert evidence.text not in write(gone)


def test_a_finished_todo_is_told_as_done():
    done = item(K.TODO, "write docs", status=EvidenceStatus.RESOLVED)

    assert under(write(done), "Progress / Done") == ("write docs",)


@pytest.mark.parametrize("budget", [300, 600, 1_500, 6_000])
def test_a_summary_is_never_over_its_budget(budget: int):
    many = [
        item(kind, f"{kind.value} number {n} " + "word " * (n % 30), weight=n % 97)
        for n in range(150)
        for kind in K
    ]

    summary = write(*many, budget=budget)

    assert COUNTER.count(summary) <= budget
    assert COUNTER.count(summary) > budget * 0.8


def test_goal_and_constraints_are_kept_when_there_is_no_room_for_all():
    others = [item(K.ERROR, f"ValueError: {n} " + "x" * 80) for n in range(200)]
    must = [
        item(K.GOAL, "Fix the login"),
        *(item(K.CONSTRAINT, f"Never touch module {n}") for n in range(8)),
    ]

    summary = write(*others, *must, budget=500)

    assert all(evidence.text in summary for evidence in must)


def test_what_was_left_out_is_told_by_number():
    many = [item(K.ERROR, f"ValueError: {n} " + "x" * 80) for n in range(100)]

    summary = write(*many, budget=600)

    left = 100 - summary.count("ValueError")
    assert f"(Left out for space: {left} error)" in summary


def test_a_goal_longer_than_the_budget_is_shortened():
    summary = write(item(K.GOAL, "Fix the login page " * 400), budget=400)

    assert "Fix the login page" in under(summary, "Goal")[0]
    assert COUNTER.count(summary) <= 400


def test_the_same_words_are_not_told_twice():
    summary = write(
        item(K.DECISION, "Use port 8443 because 443 is taken"),
        item(K.IDENTIFIER, "Use port 8443", key="8443"),
    )

    assert summary.count("8443") == 1


def test_a_chinese_summary_has_chinese_labels_and_english_headings():
    summary = write(item(K.STATE, "正在测试"), labels=CHINESE)

    assert under(summary, "Progress / In Progress") == ("最近回复：正在测试",)
    assert summary.startswith(CHINESE.note)


# reading back


@pytest.mark.parametrize("labels", [ENGLISH, CHINESE])
def test_what_was_written_is_read_back(labels: Labels):
    outlived = (K.STATE, K.NEXT)
    kinds = {(e.kind, e.text) for e, _, _ in ALL_KINDS if e.kind not in outlived}

    summary = write(*(evidence for evidence, _, _ in ALL_KINDS), labels=labels)

    read = {(e.kind, e.text) for e in read_previous(summary)}
    assert read == kinds


MODELS_SUMMARY = """## Goal
Fix a login bug in app.py and add logging.

## Constraints & Preferences
- Python/Flask backend
- Logging at INFO level

## Progress
### Done
- Patched `authenticate`
### In Progress
- Testing the login endpoint
### Blocked
None currently

## Key Decisions
- Validate at the endpoint

## Relevant Files
- `app.py` - login endpoint modified
- `auth.py` - read only

## Next Steps
1. Test login with missing credentials
2. Verify logging output

## Critical Context
- Error: authenticate() was called with None

## Tools & Patterns
- `read_file` used to examine the structure
"""


def test_a_models_summary_is_read_item_by_item():
    read = read_previous(MODELS_SUMMARY)

    by_kind = {
        kind: [e.text for e in read if e.kind is kind]
        for kind in (K.GOAL, K.CONSTRAINT, K.DONE, K.STATE, K.BLOCKER, K.TODO, K.FILE)
    }
    assert by_kind == {
        K.GOAL: ["Fix a login bug in app.py and add logging."],
        K.CONSTRAINT: ["Python/Flask backend", "Logging at INFO level"],
        K.DONE: ["Patched `authenticate`"],
        K.STATE: ["Testing the login endpoint"],
        K.BLOCKER: [],
        K.TODO: ["Test login with missing credentials", "Verify logging output"],
        K.FILE: ["app.py", "auth.py"],
    }


@pytest.mark.parametrize(
    "text", ["", "no headings at all", "## ", "## Goal", "\n\n", "- ", "## X\n" * 50]
)
def test_any_text_can_be_read_as_a_previous_summary(text: str):
    read_previous(text)
