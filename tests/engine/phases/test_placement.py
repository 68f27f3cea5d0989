"""Where the summary stands, and in which role."""

from __future__ import annotations

import pytest

from compaction.engine.messages import Kind, Role
from compaction.engine.phases.placement import Parts, add_system_note, place_summary
from compaction.engine.phases.summary_text import SYSTEM_NOTE
from compaction.engine.presets import DEFAULT
from tests.engine.builders import assistant, group, result, system, user

U, A = Role.USER, Role.ASSISTANT


def place(head, tail, *, kept=(), kept_is_older=False, verbatim=()):
    count = len(head) + len(kept)
    parts = Parts(
        head=tuple((m, i) for i, m in enumerate(head)),
        kept=tuple((m, len(head) + i) for i, m in enumerate(kept)),
        tail=tuple((m, count + i) for i, m in enumerate(tail)),
        kept_is_older=kept_is_older,
        verbatim=frozenset(verbatim),
    )
    return [m for m, _ in place_summary(parts, "## Goal\nx", DEFAULT)]


def summary_of(placed):
    return next(m for m in placed if m.kind is Kind.SUMMARY or m.carried_summary)


@pytest.mark.parametrize(
    ("head", "tail", "role"),
    [
        ([system(), user(), *group("a")], [user()], A),
        ([system(), user(), *group("a")], [assistant()], U),
        ([system(), user()], [user()], A),
        ([system(), user(), assistant()], [assistant()], U),
        ([system()], [assistant()], U),
    ],
)
def test_the_summary_is_assistant_unless_a_neighbour_forbids_it(head, tail, role):
    summary = summary_of(place(head, tail))

    assert summary.kind is Kind.SUMMARY
    assert summary.role is role


def test_between_a_user_and_an_assistant_the_next_message_carries_it():
    placed = place([system(), user()], [assistant("go on"), user("last")])

    assert placed[2].carried_summary is not None
    assert placed[2].content == "go on"
    assert len(placed) == 4


def test_a_message_that_stays_word_for_word_does_not_carry_it_if_anything_else_fits():
    kept = [assistant("newest reply"), user("newest")]
    tail = group("a")

    placed = place([system(), user()], tail, kept=kept, verbatim=[2, 3])

    assert kept[0] in placed
    assert kept[1] in placed
    assert placed[4].carried_summary is not None


def test_the_newest_request_never_carries_it():
    placed = place([system()], [user("newest"), assistant()], verbatim=[1])

    assert user("newest") in placed


def test_kept_messages_that_are_older_than_the_middle_come_first():
    placed = place([system()], group("z"), kept=[user("task")], kept_is_older=True)

    assert placed[1] == user("task")
    assert placed[2].carried_summary is not None


def test_kept_messages_that_are_newer_than_the_middle_come_after():
    placed = place([system(), user(), *group("a")], group("z"), kept=[user("task")])

    kinds = [m.kind for m in placed]
    assert kinds.index(Kind.SUMMARY) < placed.index(user("task"))


def test_the_system_note_is_added_once():
    noted = add_system_note([system("Rules."), user()])

    assert noted[0].text.startswith("Rules.")
    assert noted[0].text.endswith(SYSTEM_NOTE)
    assert add_system_note(noted) == noted


def test_a_system_message_of_parts_gets_the_note_as_a_part():
    parts = system().evolve(content=({"type": "text", "text": "Rules."},))

    (noted,) = add_system_note([parts])

    assert isinstance(noted.content, tuple)
    assert noted.content[1]["text"] == SYSTEM_NOTE


def test_without_a_system_message_nothing_is_added():
    assert add_system_note([user()]) == (user(),)
    assert add_system_note([]) == ()


def test_a_tool_result_is_no_neighbour_that_matters():
    placed = place(
        [system(), user(), assistant("", calls=["a"]), result("a")], [user()]
    )

    assert summary_of(placed).role is A
