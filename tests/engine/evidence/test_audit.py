"""Which evidence counts as lost, and which line tells which item."""

from __future__ import annotations

import pytest

from compaction.engine.evidence.audit import audit
from compaction.engine.evidence.items import EvidenceItem, EvidenceKind
from compaction.engine.evidence.telling import Telling

STAGING = "Never delete the staging database of the shop."
PRODUCTION = "Never delete the production database of the shop."


def lost_of(kind, told, *texts):
    items = [
        EvidenceItem(kind=kind, text=text, position=n) for n, text in enumerate(texts)
    ]
    return [item.text for item in audit(items, Telling(told)).losses]


@pytest.mark.parametrize("order", [(STAGING, PRODUCTION), (PRODUCTION, STAGING)])
def test_a_line_that_tells_one_rule_does_not_tell_its_neighbour(order):
    lost = lost_of(EvidenceKind.CONSTRAINT, f"## Goal\n- {PRODUCTION}", *order)

    assert lost == [STAGING]


def test_one_line_may_tell_two_rules():
    told = "- Never delete the staging or the production database of the shop."

    assert not lost_of(EvidenceKind.CONSTRAINT, told, STAGING, PRODUCTION)


def test_a_rule_in_other_words_is_told_beside_others_in_one_line():
    told = (
        f"{PRODUCTION} Without asking, the main branch gets no push. "
        "Documentation is written in German."
    )
    rule = "Never push to the main branch without asking me."

    assert not lost_of(EvidenceKind.CONSTRAINT, told, PRODUCTION, rule)


def test_a_todo_that_only_resembles_another_is_lost():
    told = "- write unit tests for the lexer module"
    parser = "write unit tests for the parser module"

    lost = lost_of(EvidenceKind.TODO, told, parser, told.removeprefix("- "))

    assert lost == [parser]


def test_a_line_with_two_values_is_lost_once():
    line = "The report takes 3.9 of the 4 seconds."
    items = [
        EvidenceItem(kind=EvidenceKind.IDENTIFIER, text=line, key=key, position=1)
        for key in ("3.9", "4 seconds")
    ]

    all_gone = audit(items, Telling("## Goal\n- Find the report."))
    one_gone = audit(items, Telling("It takes 3.9 in all."))

    assert (len(all_gone.losses), all_gone.lost) == (1, 1)
    assert [item.key for item in one_gone.losses] == ["4 seconds"]
    assert not audit(items, Telling(f"- {line}")).losses
